// Words with numbers, as a table: the first few that say something, and folded below it the words of grammar.

import { counted, element } from "./common.js";

const LISTED = 12; // words of a table

// `columns` gives the cells of a row by the name of their column, `address` the link of a word.
export function wordTable({ words, grammar }, columns, label, address) {
  const folded = new Set(grammar);
  const link = (word) => element("a", { href: address(word) }, word);
  const head = ["word", ...Object.keys(columns)];
  const cell = (row) => (of) => element("td", { class: "number" }, of(row));
  const row = (item) => element("tr", {}, element("td", {}, link(item.word)), Object.values(columns).map(cell(item)));
  const told = words.filter(({ word }) => !folded.has(word)).slice(0, LISTED);
  const names = [...folded].flatMap((word, place) => [place ? ", " : "", link(word)]);
  const heads = head.map((name, at) => element("th", { scope: "col", class: at ? "number" : "" }, name));
  return element(
    "div",
    {},
    element("div", { class: "sample", tabindex: "0", role: "region", "aria-label": label }, [
      element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, told.map(row))),
    ]),
    folded.size
      ? element(
          "details",
          { class: "hint" },
          element("summary", {}, `And ${counted(folded.size, "word")} of grammar`),
          element("p", {}, names),
        )
      : "",
  );
}
