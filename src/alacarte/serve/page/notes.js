// Notes: views that were kept.

import { about, ask, element, say } from "./common.js";

export async function notes(main) {
  const there = await about(),
    list = element("div", {});
  main.replaceChildren(
    element("h1", {}, "What did you see?"),
    element(
      "p",
      { class: "lede" },
      there.keeps
        ? "Views that were kept, the newest first. Keep one at the foot of any view."
        : "This server keeps nothing; start it with --workspace.",
    ),
    list,
  );
  if (!there.keeps) return;
  async function refresh() {
    const { notes: kept } = await ask("/api/notes");
    list.replaceChildren(
      kept.length ? "" : element("p", { class: "hint" }, "None yet."),
      ...kept.map((note) => {
        const text = element("textarea", { rows: 2, "aria-label": `Note on ${note.title}`, "data-search": true });
        text.value = note.text;
        text.addEventListener("change", () =>
          act("/api/note", { number: note.number, address: note.address, title: note.title, text: text.value }),
        );
        return element(
          "article",
          { class: "note" },
          element("h2", { class: "plain" }, element("a", { href: note.address }, note.title || note.address)),
          text,
          element(
            "p",
            { class: "hint" },
            new Date(1000 * note.changed).toLocaleString(),
            " ",
            element(
              "button",
              {
                type: "button",
                class: "plain",
                "aria-label": `Delete ${note.title}`,
                onclick: () => act("/api/note/delete", { number: note.number }),
              },
              "Delete",
            ),
          ),
        );
      }),
    );
  }
  const act = async (path, values) => {
    try {
      await ask(path, values, true);
      await refresh();
    } catch (error) {
      say(list, error);
    }
  };
  await refresh();
}
