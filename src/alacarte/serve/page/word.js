// Word: a word or phrase of a corpus, its likeness, over time, its lines, its senses, the lines that count most.

import {
  about,
  addressOf,
  ask,
  conditions,
  counted,
  current,
  element,
  entitle,
  flat,
  go,
  goSoon,
  isKnown,
  longQuestion,
  named,
  percent,
  quoted,
  remember,
  say,
  script,
  shell,
  sliced,
  state,
  sure,
  UNKNOWN,
  visit,
  whole,
} from "./common.js";
import { tools } from "./share.js";
import { noteForm } from "./keeping.js";
import { exampleLinks, inWords, modelOf, noCorpus, sliceForm } from "./slices.js";
import { likeness } from "./charts.js";
import { lineList, LineTable } from "./lines.js";
import { time } from "./time.js";
import { wordTable } from "./words.js";

const COLLOCATES = 40; // words beside it
const BESIDE = {
  "beside it": ({ uses }) => whole(uses),
  "by chance": ({ expected }) => expected.toFixed(1),
  evenness: ({ evenness }) => evenness.toFixed(2),
  "log-likelihood": ({ log_likelihood }) => log_likelihood.toFixed(0),
};

export async function word(main) {
  const there = await about();
  if (!there.corpora.length) {
    noCorpus(main);
    return;
  }
  const given = state();
  const search = { id: "phrase", type: "search", value: given.get("phrase") ?? "", autocomplete: "off" };
  const phrase = element("input", { ...search, "data-search": true });
  const first = element("div", { class: "first" }, element("label", { for: "phrase" }, "Word or phrase"), phrase);
  const form = await sliceForm("", given.get("corpus"), given.getAll("where"), first);
  const view = new Word(await modelOf(), form, phrase);
  main.replaceChildren(view.search(), ...view.places(), there.keeps ? noteForm() : "");
  await view.answer();
}

class Word {
  constructor(model, form, phrase) {
    this.model = model;
    this.form = form;
    this.phrase = phrase;
    const columns = form.chosen.columns.map((column) => column.name);
    this.table = new LineTable(columns, form.corpus);
    this.table.onSort = (order) => remember({ sort: order });
    this.heading = element("h1", {});
    this.lede = element("p", { class: "lede" });
    this.examples = element("div", {});
    this.near = element("div", { class: "near reserved", "aria-live": "polite" });
    this.beside = element("div", { class: "stand reserved" });
    this.over = element("div", { class: "over reserved" });
    this.further = element("div", {});
    this.shown = element("div", { hidden: true });
    const near = element(
      "div",
      { class: "answer" },
      element("h2", {}, "Nearest words"),
      this.near,
      element("h2", {}, "Words beside it"),
      this.beside,
    );
    const lines = [element("h2", {}, "The lines behind it"), this.table.place];
    this.shown.append(element("div", { class: "two" }, near, this.over), ...lines, this.further);
  }

  places() {
    return [this.heading, this.lede, this.examples, this.shown];
  }

  search() {
    const onsubmit = (event) => {
      event.preventDefault();
      this.answer("asked");
    };
    const ask_ = element("button", { type: "submit", class: "plain" }, "Ask");
    this.form.place.insertBefore(ask_, this.form.place.querySelector(":scope > details"));
    const form = element("form", { role: "search", onsubmit }, this.form.place);
    form.addEventListener("change", (event) => {
      const { corpus, phrase } = this.values();
      if (event.target.id === "corpus") visit(addressOf("/word", { corpus, phrase, model: state().get("model") }));
      else if (event.target.tagName === "SELECT") this.answer("asked");
    });
    this.phrase.addEventListener("input", () => this.answer("typed"));
    return form;
  }

  values() {
    return { corpus: this.form.corpus(), phrase: this.phrase.value.trim(), where: this.form.where() };
  }

  // -------------------------------------------------------------------------------------------------- the answer

  // What is asked by a link ("opened"), by Enter ("asked") or letter by letter ("typed"); what was known stays until
  // there is an answer, and while one types also where there is none.
  answer(how = "opened") {
    const values = this.values();
    const before = state();
    const keep = Object.fromEntries(["sort", "over", "around"].map((name) => [name, before.get(name)]));
    const kept = { ...keep, show: before.getAll("show") };
    const address = { ...values, ...kept, model: before.get("model") };
    if (how === "asked") go("/word", address);
    if (how === "typed") goSoon("/word", address);
    const work = (signal) => (values.phrase ? this.word(values, signal, how) : Promise.resolve(this.welcome(values)));
    return current(this.near, work, (error) => {
      if (how === "typed") return;
      this.begin(values);
      this.lede.textContent = "";
      this.table.clear();
      this.shown.hidden = true;
      say(this.examples, error);
    });
  }

  begin(values) {
    const where = inWords(values.where, this.form.chosen.columns);
    entitle(values.phrase, "Word");
    this.heading.replaceChildren(element("em", {}, values.phrase), values.where.length ? `, ${where}` : "");
    this.examples.replaceChildren();
  }

  welcome(values) {
    const { documents, tokens, examples } = this.form.chosen;
    entitle("", "Word");
    this.shown.hidden = true;
    this.heading.replaceChildren("Which word or phrase?");
    const size = `${counted(documents, "document")}, ${counted(tokens, "word")}`;
    this.lede.textContent = `${size}. Type one above; * is any letters, as in immigr*.`;
    const link = (each) => [each, addressOf("/word", { ...values, phrase: each })];
    this.examples.replaceChildren(exampleLinks(examples.map(link)));
  }

  async word(values, signal, how) {
    if (how !== "typed" || this.shown.hidden) {
      this.begin(values);
      this.lede.textContent = "…";
      this.shown.hidden = false;
      this.shown.ariaBusy = "true"; // what is there is still the answer before
    }
    const lines = () => this.table.show(values, state().get("sort") ?? "");
    const shown = how === "typed" ? null : lines(); // while one types, lines wait for a word that is used
    const answered = await ask("/api/word", { ...values, model: this.model.name }, false, signal);
    this.begin(values);
    if (!answered.uses) {
      this.unused(values, answered);
      return;
    }
    const part = values.where.length ? "slice" : "corpus";
    const size = counted(answered.documents, "document");
    this.lede.textContent = `${counted(answered.uses, "use")}; the ${part} has ${size}.`;
    this.shown.ariaBusy = "false";
    this.near.replaceChildren(...this.nearest(answered, values));
    this.overTime(values, answered);
    this.collocates(values);
    this.further.replaceChildren(...this.more(values));
    await (shown ?? lines());
  }

  // A word that this corpus does not use: what the vectors know of it, and who uses it.
  unused(values, { nearest, elsewhere }) {
    this.shown.hidden = true;
    this.table.clear();
    const link = ({ corpus, uses }) => [
      `${corpus} (${counted(uses, "use")})`,
      addressOf("/word", { corpus, phrase: values.phrase }),
    ];
    this.lede.textContent = "These documents do not use it.";
    const label = `The words most like ${values.phrase} in the vectors`;
    const address = (other) => addressOf("/word", { corpus: values.corpus, phrase: other });
    const title = "What the vectors know of it, from the text that they were made from";
    this.examples.replaceChildren(
      elsewhere.length ? exampleLinks(elsewhere.map(link), "It is used in ") : "",
      nearest.length ? element("h2", {}, title) : "",
      nearest.length ? element("div", { class: "half" }, likeness(nearest, label, address).place) : "",
      element("p", { class: "hint" }, "Or use it in a sentence under ", this.inventLink(values.phrase), "."),
    );
  }

  inventLink(phrase) {
    return element("a", { href: addressOf("/invent", { word: phrase }) }, "Invent");
  }

  nearest(answered, values) {
    const { model, form } = this;
    const lines = [
      `corpus = ${sliced(form.chosen.path, values.where)}`,
      "induced = corpus.induce(model, target)",
      `print(induced.uncertainty.nearest(${quoted(values.phrase)}, among=30_000))`,
      "print(corpus.lines(target))",
    ];
    const python = script(model, values.phrase, lines, { names: ["Concordance"] });
    const where = conditions("--where", values.where);
    const of = [form.chosen.path, ...named(values.phrase)];
    const command = [
      shell("alc", "concordance", "nearest", ...of, "--among", "30000", ...where, ...model.options),
      shell("alc", "concordance", "lines", ...of, ...where),
    ].join("\n");
    const name = values.phrase;
    if (!answered.nearest.length)
      return [element("p", { class: "hint" }, answered.reason), tools({ rows: null, name, python, command })];
    const label = `The words most like ${name} here, with 95 percent intervals`;
    const chart = likeness(answered.nearest, label, (other) => addressOf("/word", { ...values, phrase: other }));
    return [
      sure(answered.confidence, "of what endless text of this kind would tell"),
      chart.place,
      answered.nearest.every(isKnown) ? "" : element("p", { class: "hint" }, `Grey: how alike is ${UNKNOWN}.`),
      quality(values, model),
      tools({ rows: answered.nearest, name, python, command, pictures: [chart.picture] }),
    ];
  }

  overTime(values, answered) {
    if (!this.form.chosen.columns.length) return;
    const now = state();
    const chosen = now.getAll("with");
    const others = chosen.length ? chosen : answered.nearest.slice(0, 4).map((item) => item.other);
    const date = this.form.chosen.columns.find((column) => column.kind === "date")?.name ?? "";
    const drawn = time([{ form: this.form, values, name: "" }], others, now.get("over") ?? date, this.model);
    this.over.replaceChildren(element("h2", {}, "Over time"), drawn);
  }

  // --------------------------------------------------------------------------------------------- on request

  more(values) {
    const asked = { ...values, model: this.model.name };
    const influence = longQuestion({
      label: "Show the lines that made this vector",
      name: "influence",
      path: "/api/influence",
      values: () => ({ ...asked, limit: 30 }),
      show: (answered, place) => this.showInfluence(values, answered, place),
    });
    const parts = [element("h2", {}, "The lines that count most"), influence];
    if (values.phrase.includes("*")) return parts;
    const senses = longQuestion({
      label: "Look for several senses",
      name: "senses",
      path: "/api/senses",
      values: () => asked,
      show: (answered, place) => this.showSenses(values, answered, place),
    });
    return [...parts, element("h2", {}, "Senses"), senses];
  }

  // Words that stand near it, as other concordancers list them.
  collocates(values, window = 5) {
    const place = this.beside;
    const work = async (signal) => {
      const asked = { ...values, window, limit: COLLOCATES, model: this.model.name };
      const answered = await ask("/api/collocates", asked, false, signal);
      const width = element("input", { type: "number", min: 1, max: 50, value: window, id: "window" });
      width.addEventListener("change", () => this.collocates(values, width.value || 5));
      const label = element("label", { for: "window" }, "Words on either side");
      const of = `target, window=${window}, limit=${COLLOCATES}`;
      const lines = [`corpus = ${sliced(this.form.chosen.path, values.where)}`, `print(collocates(corpus, ${of}))`];
      const imports = ["from alacarte.concordance import collocates"];
      const python = script(this.model, values.phrase, lines, { names: ["Concordance"], imports });
      const address = (phrase) => addressOf("/word", { corpus: this.form.corpus(), phrase });
      place.replaceChildren(
        element("div", { class: "beside" }, label, width),
        wordTable(answered, BESIDE, "Words beside it", address),
        tools({ rows: answered.words, name: `${values.phrase} beside`, python }),
      );
    };
    return current(place, work, (error) => say(place, error));
  }

  showInfluence(values, answered, place) {
    const { form, model } = this;
    const lines = [`corpus = ${sliced(form.chosen.path, values.where)}`];
    lines.push("print(corpus.influence(model, target, limit=30))");
    place.replaceChildren(
      element("p", { class: "hint" }, "Shaded by how much of the vector each line makes."),
      lineList(answered.lines, this.table.names(), form.corpus, "Lines that count most"),
      tools({
        rows: answered.lines.map(flat),
        name: `${values.phrase} lines`,
        python: script(model, values.phrase, lines, { names: ["Concordance"] }),
      }),
    );
  }

  showSenses(values, answered, place) {
    const { form, model } = this;
    const count = answered.senses.length;
    const uses = answered.contexts === 1 ? "one use does" : `the ${whole(answered.contexts)} uses do`;
    const said =
      count === 1
        ? `One sense: ${uses} not fall into groups.`
        : `${count} senses, from ${counted(answered.contexts, "use")}.`;
    const word_ = quoted(values.phrase);
    const lines = [`corpus = ${sliced(form.chosen.path, values.where)}`];
    lines.push(`print(induce_senses(model, corpus.holding(${word_}), ${word_}))`);
    const of = [...named(values.phrase), "--corpus", form.chosen.path, ...conditions("--where", values.where)];
    place.replaceChildren(
      element("p", { class: "lede" }, said),
      element("div", { class: "senses" }, answered.senses.map(sense)),
      count > 1 ? colouredLines(answered.lines) : "",
      tools({
        rows: answered.senses.map(({ name, share, contexts, nearest }) => ({
          name,
          share,
          contexts,
          nearest: nearest.map((item) => item.word).join(" "),
        })),
        name: `${values.phrase} senses`,
        python: script(model, null, lines, { names: ["Concordance", "induce_senses"] }),
        command: shell("alc", "senses", "induce", ...of, ...model.options),
      }),
    );
  }
}

// How far to trust the neighbours of a word in these documents.
function quality({ corpus, where }, model) {
  const place = element("p", { class: "hint" });
  const show = ({ said, poor }) => {
    if (said) place.textContent = `${poor ? "Of little use here" : "How good they are"}: ${said}.`;
  };
  ask("/api/quality", { corpus, where, model: model.name }).then(show, () => place.remove());
  return place;
}

function sense({ share, nearest, examples }, number) {
  const words = nearest.slice(0, 5).map((item) => item.word);
  const title = element("h3", {}, `${percent(share)}: ${words.join(", ")}`);
  const list = examples.map((example) => element("li", {}, marked(example)));
  return element("section", { class: `sense sense-${number}` }, title, element("ul", {}, list));
}

function colouredLines(lines) {
  const list = lines.slice(0, 200).map((item) => element("li", { class: `sense-${item.sense}` }, marked(item.line)));
  const title = element("summary", {}, "Lines, in the colours of their senses");
  return element("details", {}, title, element("ul", { class: "sense-lines" }, list));
}

// "a **word** here": what is between the marks is the word itself. The tokens of the line are joined as one writes.
export function marked(text) {
  const joined = text.replace(/ (?=[,.;:!?…%)\]}’”]|'\w|n't\b)/g, "").replace(/(?<=[([{“‘$]) /g, "");
  return joined.split("**").map((part, place) => (place % 2 ? element("b", {}, part) : part));
}
