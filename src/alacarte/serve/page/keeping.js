// A note on the view that is open, kept on the server.

import { ask, element, writeAddress } from "./common.js";

export function noteForm() {
  const text = element("textarea", { id: "note", rows: 3 });
  const title = element("input", { id: "note-title", autocomplete: "off" });
  const told = element("span", { class: "hint", role: "status" });
  const onsubmit = async (event) => {
    event.preventDefault();
    writeAddress();
    const heading = document.querySelector("h1").textContent.slice(0, 200);
    const note = { address: location.pathname + location.search, title: title.value || heading, text: text.value };
    try {
      await ask("/api/note", note, true);
      told.textContent = "Kept, under Notes.";
      text.value = "";
    } catch (error) {
      told.textContent = error.message;
    }
  };
  const form = element(
    "form",
    { onsubmit },
    element("label", { for: "note-title" }, "A title"),
    title,
    element("label", { for: "note" }, "What you see here"),
    text,
    element("button", { type: "submit", class: "plain" }, "Keep this view"),
    " ",
    told,
  );
  return element("details", { class: "keep" }, element("summary", {}, "Keep this view, with a note"), form);
}
