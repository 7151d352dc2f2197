// What a file holds before a corpus is built from it: its first rows, and what each column is for.

import { ask, element, say } from "./common.js";

const KINDS = { date: "dates", number: "numbers", few: "groups", many: "many values", text: "text" };
const KEPT = ["date", "number", "few", "many"]; // kinds of columns that are kept unless somebody says otherwise
const CHOICES = { text: "the text", keep: "keep", leave: "leave out" };

export class Preview {
  constructor(build) {
    this.build = build; // is given what to build
    this.place = element("section", { class: "preview", "aria-live": "polite", hidden: true });
    this.names = [];
  }

  // Some texts, of which the first is shown.
  async show(names) {
    this.names = names;
    this.place.hidden = !names.length;
    if (!names.length) {
      this.place.replaceChildren();
      return;
    }
    try {
      this.draw(await ask("/api/preview", { name: names[0] }));
    } catch (error) {
      say(this.place, error);
    }
  }

  draw({ rows, columns, text, plain }) {
    this.uses = columns.map((column) => this.use(column, text));
    const more = this.names.length > 1 ? ` and ${this.names.length - 1} more` : "";
    const name = { id: "name", value: stem(this.names[0]), autocomplete: "off", required: true };
    this.name = element("input", { ...name, "data-search": true });
    const onsubmit = (event) => {
      event.preventDefault();
      this.begin();
    };
    const said = plain
      ? "Each line is a document."
      : "Each row is a document. Dates and groups are kept, so that you can compare and look over time.";
    const form = element(
      "form",
      { onsubmit },
      element("div", {}, element("label", { for: "name" }, "Name of the corpus"), this.name),
      element("button", { type: "submit", class: "plain first-choice" }, "Build the corpus"),
    );
    this.place.replaceChildren(
      element("h2", { class: "plain" }, this.names[0], more),
      element("p", { class: "hint" }, said),
      element("div", { class: "sample", tabindex: "0", role: "region", "aria-label": "The first rows" }, [
        plain
          ? element(
              "ul",
              {},
              rows.map((row) => element("li", {}, row.text)),
            )
          : this.table(rows, columns),
      ]),
      form,
    );
  }

  use({ name, kind }, text) {
    const now = name === text ? "text" : KEPT.includes(kind) ? "keep" : "leave";
    const option = ([value, label]) => element("option", { value, selected: value === now }, label);
    const select = element("select", { "aria-label": `${name} is` }, Object.entries(CHOICES).map(option));
    select.addEventListener("change", () => {
      if (select.value !== "text") return;
      for (const other of this.uses) if (other !== select && other.value === "text") other.value = "leave";
    });
    return select;
  }

  table(rows, columns) {
    const head = columns.map(({ name, kind }, place) =>
      element(
        "th",
        { scope: "col" },
        element("div", {}, name),
        element("div", { class: "hint" }, KINDS[kind]),
        this.uses[place],
      ),
    );
    const body = rows.map((row) =>
      element(
        "tr",
        {},
        columns.map(({ name }) => element("td", {}, row[name])),
      ),
    );
    return element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body));
  }

  begin() {
    const names = [...this.place.querySelectorAll("th > div:first-child")].map((each) => each.textContent);
    const chosen = (use) => names.filter((_, place) => this.uses[place].value === use);
    this.build({
      name: this.name.value.trim(),
      texts: this.names,
      text: chosen("text")[0] ?? "text",
      columns: chosen("keep"),
    });
  }
}

const stem = (name) => name.replace(/(\.(txt|jsonl|json|csv|tsv|parquet|gz|zst|bz2|xz))+$/i, "");

// All files that were dropped, also those in folders.
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  const lists = await Promise.all(entries.map(filesOf));
  return lists.flat().filter((file) => !file.name.startsWith("."));
}

async function filesOf(entry) {
  if (entry.isFile) return [await new Promise((done, fail) => entry.file(done, fail))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map(filesOf))).flat();
}
