// Parts of a corpus: the choice of one by its columns, what it is called, examples of it.

import { about, ask, current, element, state } from "./common.js";

const ORDERED = ["date", "number"];
const CONDITION = /^(.+?)(>=|<=|!=|=|<|>)(.*)$/s;

// ------------------------------------------------------------------------------------------------------ conditions

// The condition that a column has a value; a bar would separate values, and quotes or spaces around one be left out.
function equal(name, value) {
  const text = String(value ?? "").replaceAll("|", "\\|");
  const quote = text.startsWith("'") ? '"' : "'";
  const odd = text !== text.trim() || /^(['"]).*\1$/s.test(text);
  return `${name}=${odd ? quote + text + quote : text}`;
}

const bare = (text) => text.replace(/^(['"])(.*)\1$/s, "$2").replaceAll("\\|", "|");
const year = (text) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? text.slice(0, 4) : text);

// A whole year at the end of a period takes all of its days in.
function until(column, value) {
  return column.kind === "date" && /^\d{4}$/.test(value)
    ? `${column.name}<${Number(value) + 1}`
    : `${column.name}<=${value}`;
}

// What conditions say, in words: "party=D" is D, "date<1945" is before 1945.
export function inWords(where, columns) {
  const parsed = where.map((text) => CONDITION.exec(text) ?? [text, text, "", ""]);
  const names = [...new Set(parsed.map(([, name]) => name))];
  const said = names.map((name) => {
    const date = columns.find((column) => column.name === name)?.kind === "date";
    const own = parsed.filter((part) => part[1] === name);
    const value = (...signs) => own.find((part) => signs.includes(part[2]))?.[3];
    const [low, high, last] = [value(">=", ">"), value("<"), value("<=")];
    if (value("=") !== undefined) return bare(value("=")).replaceAll("|", " or ") || `${name} missing`;
    if (!date) return own.map(([text]) => text).join(", ");
    if (low && (high ?? last)) return `${year(low)} to ${last ?? yearBefore(high)}`;
    if (low) return `since ${year(low)}`;
    return high === undefined ? `until ${last}` : `before ${year(high)}`;
  });
  return said.join(", ") || "all";
}

const yearBefore = (text) => (/^\d{4}$/.test(text) ? String(Number(text) - 1) : text);

// --------------------------------------------------------------------------------------------------------- the form

// The choice of a corpus and of a part of it; `name` tells two of them apart, `first` comes before them.
export async function sliceForm(name, corpusName, where, first = null) {
  const there = await about();
  const chosen = corpusName ? there.corpora.find((item) => item.name === corpusName) : there.corpora[0];
  if (!chosen) {
    const names = there.corpora.map((item) => item.name).join(", ");
    throw new Error(`There is no corpus ${corpusName} here; there are ${names}`);
  }
  const suffix = name ? `-${name}` : "";
  const option = (item) => element("option", { value: item.name, selected: item === chosen }, item.name);
  const corpus = element("select", { id: `corpus${suffix}` }, there.corpora.map(option));
  const rest = [...where];
  const fields = chosen.columns.map((column) => field(column, suffix, rest, chosen.name)).filter(Boolean);
  const others = element("input", { id: `conditions${suffix}`, value: rest.join("; "), autocomplete: "off" });
  const label = element("label", { for: others.id }, "Other conditions");
  const columns = chosen.columns.map((column) => column.name);
  const more = element(
    "details",
    { class: "other", open: rest.length > 0 },
    element("summary", {}, "More"),
    label,
    others,
  );
  const place = element(
    "div",
    { class: "asks" },
    first,
    element("div", { hidden: there.corpora.length < 2 }, element("label", { for: corpus.id }, "Corpus"), corpus),
    fields.map((each) => each.place),
    columns.length ? more : null,
  );
  others.placeholder = columns.length ? `${columns[0]}!=…` : "";
  const typed = () => others.value.split(";").map((text) => text.trim());
  return {
    place,
    chosen,
    corpus: () => corpus.value,
    where: () => [...fields.flatMap((each) => each.where()), ...typed()].filter(Boolean),
    name: () => inWords([...fields.flatMap((each) => each.where()), ...typed()].filter(Boolean), chosen.columns),
  };
}

// What one can choose of a column; it takes its own conditions out of `rest`.
function field(column, suffix, rest, corpus) {
  const take = (holds) => {
    const at = rest.findIndex(holds);
    return at < 0 ? "" : rest.splice(at, 1)[0];
  };
  if (column.values !== null) return listField(column, suffix, take);
  if (ORDERED.includes(column.kind)) return rangeField(column, suffix, take);
  return column.kind === "many" ? searchField(column, suffix, take, corpus) : null;
}

const labelled = (input, text) => element("div", {}, element("label", { for: input.id }, text), input);

function listField(column, suffix, take) {
  const label = (value) => (value === null || value === "" ? "(missing)" : String(value));
  const choices = new Map(column.values.map((value) => [equal(column.name, value), label(value)]));
  const now = take((text) => choices.has(text));
  const option = ([condition, text]) => element("option", { value: condition, selected: condition === now }, text);
  const attributes = { id: `where${suffix}-${column.name}`, "data-column": column.name };
  const select = element("select", attributes, element("option", { value: "" }, "all"), [...choices].map(option));
  return { place: labelled(select, column.name), where: () => [select.value] };
}

function rangeField(column, suffix, take) {
  const { name, low, high } = column;
  const rest = (sign) => take((text) => text.startsWith(name + sign))?.slice(name.length + sign.length) ?? "";
  const begin = rest(">=");
  const last = rest("<=");
  const before = last ? "" : rest("<");
  const end = last || (column.kind === "date" ? yearBefore(before) : "");
  const shown = (value) => (column.kind === "date" ? year(String(value)) : String(value));
  const input = (part, value, hint) =>
    element("input", { id: `${part}${suffix}-${name}`, value, placeholder: shown(hint), autocomplete: "off" });
  const [from, to] = [input("from", begin, low), input("to", end, high)];
  from.dataset.from = name;
  to.dataset.to = name;
  const where = () => [
    from.value.trim() && `${name}>=${from.value.trim()}`,
    to.value.trim() && (to.value.trim() === end && before ? `${name}<${before}` : until(column, to.value.trim())),
  ];
  const both = element("div", { class: "range" }, labelled(from, `${name} from`), labelled(to, "to"));
  return { place: both, where };
}

// A search among very many values; those that hold what was typed are offered.
function searchField(column, suffix, take, corpus) {
  const prefix = `${column.name}=`;
  const now = take((text) => text.startsWith(prefix));
  const list = element("datalist", { id: `values${suffix}-${column.name}` });
  const input = element("input", {
    id: `where${suffix}-${column.name}`,
    value: bare(now.slice(prefix.length)),
    list: list.id,
    placeholder: "type to search",
    autocomplete: "off",
    "data-search-in": column.name,
  });
  const values = () => ({ corpus, column: column.name, part: input.value });
  const show = async (signal) => {
    const found = await ask("/api/values", values(), false, signal);
    list.replaceChildren(...found.values.map((value) => element("option", { value })));
  };
  const offer = () => current(input, show, () => list.replaceChildren());
  input.addEventListener("input", offer);
  input.addEventListener("focus", offer, { once: true });
  const place = labelled(input, column.name);
  place.append(list);
  return { place, where: () => [input.value.trim() && equal(column.name, input.value.trim())] };
}

// ---------------------------------------------------------------------------------------------------------- examples

export const isOrdered = (column) => ORDERED.includes(column.kind);

export function noCorpus(main) {
  const lede = element("p", { class: "lede" });
  lede.append("Add one under ", element("a", { href: "/corpora" }, "Corpora"), ", or start the page with one:");
  const commands = [
    "alc concordance build reviews.jsonl --vectors glove.6B.50d --out reviews.concordance",
    "alc serve reviews.concordance",
  ];
  main.replaceChildren(element("h1", {}, "No corpus yet"), lede, element("pre", {}, commands.join("\n")));
}

export function exampleLinks(links, before = "For example ") {
  if (!links.length) return "";
  const list = links.flatMap(([label, address], place) => [place ? ", " : "", element("a", { href: address }, label)]);
  return element("p", { class: "examples" }, before, list, ".");
}

// The model of the address, for questions and commands.
export async function modelOf() {
  const there = await about();
  const name = state().get("model") ?? "";
  return there.models.find((item) => item.name === name) ?? there.models[0];
}
