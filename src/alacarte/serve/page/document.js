// A document, opened from one of its lines.

import { ask, current, download, element, say, whole } from "./common.js";

const NEAR = 1500; // characters of a document around a use
const MORE = 20000; // how many more at a time
const WORDS = [10, 4, 2, 0]; // of a line on either side by which its place is found

// The document around one use of it; the rest of a long one comes on request.
export function readDocument(line, corpus) {
  const work = async (signal) => {
    const answer = await ask("/api/document", { corpus, number: line.document }, false, signal);
    const facts = Object.entries(answer.values).map(([name, value]) => `${name}: ${value ?? ""}`);
    const { text } = answer;
    const [begin, end] = whereabouts(text, line);
    const use = element("mark", {}, text.slice(begin, end));
    const save = () => download(new Blob([text], { type: "text/plain" }), `document-${line.document}.txt`);
    const whole_ = text.length > 4 * NEAR ? button("Download all of it", save) : "";
    showDialog(element("p", { class: "hint" }, facts.join(" · ")), ...stretches(text, begin, end, use), whole_);
    if (end > begin) use.scrollIntoView({ block: "center" });
  };
  return current(readDocument, work, (error) => {
    const said = element("div", {});
    say(said, error);
    showDialog(said);
  });
}

const button = (label, act) => element("button", { type: "button", class: "plain", onclick: act }, label);

function showDialog(...content) {
  const dialog = element("dialog", { "aria-label": "The document", onclose: () => dialog.remove() }, ...content);
  dialog.append(
    element(
      "p",
      {},
      button("Close", () => dialog.close()),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

// The text around a use, with buttons for what comes before and after.
function stretches(text, begin, end, use) {
  const long = text.length > 4 * NEAR;
  let low = long ? Math.max(0, begin - NEAR) : 0;
  let high = long ? Math.min(text.length, end + NEAR) : text.length;
  const before = element("span", {}, text.slice(low, begin));
  const after = element("span", {}, text.slice(end, high));
  const told = element("p", { class: "hint" });
  const earlier = button("Earlier", () => {
    const from = Math.max(0, low - MORE);
    before.prepend(text.slice(from, low));
    low = from;
    rest();
  });
  const later = button("Later", () => {
    const to = Math.min(text.length, high + MORE);
    after.append(text.slice(high, to));
    high = to;
    rest();
  });
  function rest() {
    earlier.hidden = low === 0;
    later.hidden = high === text.length;
    const all = low === 0 && high === text.length;
    told.textContent = all ? "" : `${whole(high - low)} of ${whole(text.length)} characters.`;
  }
  rest();
  return [earlier, element("p", { class: "document" }, before, use, after), later, told];
}

// Where a use is in the text of its document, from the words around it; lines have single spaces.
function whereabouts(text, line) {
  const escaped = (word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const pattern = (words) => words.filter(Boolean).map(escaped).join("\\s*");
  const match = pattern(line.match.split(" "));
  for (const near of WORDS) {
    const before = pattern(line.before.split(" ").slice(-near || Infinity));
    const after = pattern(line.after.split(" ").slice(0, near));
    const found = new RegExp(`(${before}\\s*)(${match})\\s*${after}`, "iu").exec(text);
    if (found) return [found.index + found[1].length, found.index + found[1].length + found[2].length];
  }
  return [0, 0];
}
