// Compare: a word on two sides, or all words at once. All of it comes from one test of all words together.

import {
  about,
  addressOf,
  ask,
  conditions,
  counted,
  current,
  element,
  entitle,
  go,
  isKnown,
  job,
  keptAnswer,
  longQuestion,
  named,
  number,
  quoted,
  say,
  script,
  shell,
  sliced,
  state,
  UNKNOWN,
  visit,
  whole,
} from "./common.js";
import { tools } from "./share.js";
import { noteForm } from "./keeping.js";
import { exampleLinks, inWords, modelOf, noCorpus, sliceForm } from "./slices.js";
import { mirrored, volcano } from "./charts.js";
import { findingOf } from "./finding.js";
import { LineTable } from "./lines.js";
import { time } from "./time.js";
import { marked } from "./word.js";
import { wordTable } from "./words.js";

const LEAST = 20; // uses that a word needs on either side
const LISTED = 30; // words that are listed with their lines
const KEYWORDS = 40; // words that one side uses more often
const MORE_OFTEN = {
  uses: ({ uses }) => whole(uses),
  "a million": (row) => `${whole(Math.round(row.per_million))} : ${whole(Math.round(row.other_per_million))}`,
  evenness: ({ evenness }) => evenness.toFixed(2),
  "log-likelihood": ({ log_likelihood }) => whole(Math.round(log_likelihood)),
};
const DIFFERENCES = "/api/differences";

export async function compare(main) {
  const there = await about();
  if (!there.corpora.length) {
    noCorpus(main);
    return;
  }
  const given = state();
  const one = await sliceForm("a", given.get("corpus"), given.getAll("where"));
  const two = await sliceForm("b", given.get("other") ?? given.get("corpus"), given.getAll("other_where"));
  const view = new Compare(await modelOf(), [one, two], given);
  main.replaceChildren(view.form(), ...view.places(), there.keeps ? noteForm() : "");
  await view.answer(false);
}

class Compare {
  constructor(model, both, given) {
    this.model = model;
    this.both = both;
    this.given = given;
    this.asked = "";
    const search = { id: "phrase", type: "search", value: given.get("phrase") ?? "", autocomplete: "off" };
    this.phrase = element("input", { ...search, "data-search": true });
    this.heading = element("h1", {});
    this.lede = element("p", { class: "lede" });
    this.examples = element("div", {});
    this.verdict = element("p", { class: "verdict", role: "status" });
    this.shown = element("div", { "aria-live": "polite" });
    this.behind = element("h2", {}, "The lines behind it");
    this.tables = both.map(
      (side, which) =>
        new LineTable(
          side.chosen.columns.map(({ name }) => name),
          side.corpus,
          `Lines of the ${["first", "second"][which]} side`,
        ),
    );
    this.further = element("div", {});
    this.everything = element("div", {});
  }

  places() {
    const tables = this.tables.map((table) => element("div", {}, table.place));
    const lines = element("div", { class: "two even" }, tables);
    const answer = [this.heading, this.lede, this.verdict, this.examples, this.shown, this.behind, lines];
    return [...answer, this.further, this.everything];
  }

  // ------------------------------------------------------------------------------------------------- what is asked

  names() {
    const [one, two] = this.both.map((side) => side.corpus());
    return this.both.map((side) => {
      if (one === two) return side.name();
      return side.name() === "all" ? side.corpus() : `${side.corpus()}, ${side.name()}`;
    });
  }

  sides() {
    const [one, two] = this.both;
    const sides = { corpus: one.corpus(), where: one.where(), other: two.corpus(), other_where: two.where() };
    return { ...sides, model: this.given.get("model") };
  }

  values() {
    return { ...this.sides(), least: LEAST };
  }

  address(word) {
    return addressOf("/compare", { ...this.sides(), phrase: word });
  }

  form() {
    const onsubmit = (event) => {
      event.preventDefault();
      this.answer();
    };
    const titles = ["Here", "And here"];
    const field = (side, which) => element("legend", { class: `label ${sideClass(which)}` }, titles[which]);
    const sides = this.both.map((side, which) => element("fieldset", {}, field(side, which), side.place));
    const label = element("label", { for: "phrase" }, "Word or phrase; empty for all words");
    const form = element(
      "form",
      { role: "search", onsubmit },
      element("div", { class: "two even" }, sides),
      element("div", { class: "asks" }, element("div", { class: "first" }, label, this.phrase)),
      element("button", { type: "submit", class: "plain" }, "Compare"),
    );
    form.addEventListener("change", (event) => {
      if (/^corpus-/.test(event.target.id)) {
        visit(addressOf("/compare", { ...this.sides(), phrase: this.phrase.value.trim() }));
      } else this.answer(); // nothing old is left standing beside other sides
    });
    return form;
  }

  // -------------------------------------------------------------------------------------------------- the answer

  answer(push = true) {
    const word = this.phrase.value.trim();
    const before = state();
    const same = this.asked === JSON.stringify(this.sides());
    const all = same ? before.get("all") : "";
    const kept = { over: before.get("over"), around: before.get("around"), show: before.getAll("show"), all };
    if (push) go("/compare", { ...this.sides(), phrase: word, ...kept });
    if (!same) {
      this.everything.replaceChildren(element("h2", {}, "All words at once"), this.allWords(), ...this.keywords());
    }
    this.asked = JSON.stringify(this.sides());
    entitle(word && `${word}: ${this.names().join(" and ")}`, "Compare");
    this.empty(word);
    return current(
      this.shown,
      (signal) => (word ? this.word(word, signal) : Promise.resolve(this.welcome())),
      (error) => {
        this.lede.textContent = "";
        this.behind.hidden = true;
        say(this.shown, error);
      },
    );
  }

  empty(word) {
    const parts = [this.verdict, this.examples, this.shown, this.further];
    parts.forEach((part) => part.replaceChildren());
    this.tables.forEach((table) => table.clear());
    this.behind.hidden = !word;
    this.shown.classList.toggle("compared", Boolean(word)); // room, so that nothing jumps when the answer comes
  }

  welcome() {
    this.heading.replaceChildren("Who uses which word how?");
    this.lede.textContent = "Choose two groups, periods or corpora. Ask about one word, or about all words at once.";
    const [{ chosen }] = this.both;
    if (!chosen.sides) return;
    const [where, otherWhere] = chosen.sides;
    const name = [where, otherWhere].map((each) => inWords(each, chosen.columns)).join(" and ");
    const both = { corpus: chosen.name, where, other_where: otherWhere };
    const link = (word) => [`${word}: ${name}`, addressOf("/compare", { ...both, phrase: word })];
    this.examples.replaceChildren(exampleLinks(chosen.examples.slice(0, 3).map(link)));
  }

  async word(word, signal) {
    const [a, b] = this.names();
    this.heading.replaceChildren(element("em", {}, word), `: ${a} and ${b}`);
    this.lede.textContent = "…";
    const answered = await ask("/api/compare", { ...this.sides(), phrase: word }, false, signal);
    this.lede.textContent = `${counted(answered.sides[0].uses, "use")} and ${counted(answered.sides[1].uses, "use")}.`;
    this.shown.replaceChildren(...this.drawn(answered, word));
    this.both.forEach((side, which) => {
      this.tables[which].show({ corpus: side.corpus(), phrase: word, where: side.where() });
    });
    this.overTime(answered, word);
    const row = await this.judge(word, signal);
    if (row.reason)
      this.shown.replaceChildren(...this.drawn(answered, word, row.reason)); // the same, with more in grey
    else if (row.differs) this.heading.replaceChildren(...findingOf(word, this.names(), answered.moved));
  }

  // What is said of a word is its row among all words; a word that is not among them is tested alone.
  async judge(word, signal) {
    const bar = element("progress", { "aria-label": "Comparing all words" });
    this.verdict.replaceChildren(bar, element("span", { class: "hint" }, " Comparing all words …"));
    const report = ({ done, total }) => {
      if (total) Object.assign(bar, { max: total, value: done });
    };
    const asked = (values) => keptAnswer(DIFFERENCES, values, () => job(DIFFERENCES, values, report, signal));
    const among = (all) => all.words.find((item) => item.word === word);
    let answer = await asked(this.values()).catch(() => null); // too little text to compare all words, or stopped
    signal.throwIfAborted();
    if (!answer || !among(answer)) answer = await asked({ ...this.values(), phrase: word });
    const row = among(answer) ?? answer.words[0];
    const differs = answer.changed.includes(row.word);
    this.verdict.textContent = [verdictOf(row, differs, this.names()), ...unshared(answer.level)].join(" ");
    return { ...row, differs };
  }

  overTime(answered, word) {
    if (!this.both.every((side) => side.chosen.columns.length)) return;
    const now = state();
    const nearest = answered.words.slice(0, 4).map((item) => item.word);
    const others = now.getAll("with").length ? now.getAll("with") : nearest;
    const parts = this.both.map((side, which) => ({
      form: side,
      name: this.names()[which],
      values: { corpus: side.corpus(), phrase: word, where: side.where() },
    }));
    this.further.replaceChildren(element("h2", {}, "Over time"), time(parts, others, now.get("over"), this.model));
  }

  drawn(answered, word, reason = "") {
    const { words } = answered;
    const tested = knownSides(reason);
    const known = ["a", "b"].map(
      (side, which) => tested[which] && words.some((item) => item[side] && isKnown(item[side])),
    );
    const label = `How like other words ${word} is on either side, with 95 percent intervals`;
    const chart = mirrored(words, this.names(), label, (other) => this.address(other), known);
    const unknown = words.some((item) => [item.a, item.b].some((side) => side && !isKnown(side)));
    return [
      words.length ? chart.place : "",
      known.includes(false) || unknown ? element("p", { class: "hint" }, `Grey: ${UNKNOWN}.`) : "",
      this.waysOut(answered, word, known, words.length ? [chart.picture] : []),
      element(
        "details",
        { class: "hint" },
        element("summary", {}, "How these numbers are computed"),
        HOW.map((text) => element("p", {}, text)),
      ),
    ];
  }

  // ---------------------------------------------------------------------------------------------------- all words

  allWords() {
    return longQuestion({
      label: "Compare all words",
      name: "all",
      path: DIFFERENCES,
      values: () => this.values(),
      show: (answered, place) => this.showAll(answered, place),
    });
  }

  showAll(answered, place) {
    const [a, b] = this.names();
    const grammar = new Set(answered.grammar);
    const rows = new Map(answered.words.map((item) => [item.word, item]));
    const changed = answered.changed.map((word) => rows.get(word));
    const tested = answered.words.filter((item) => item.q_value !== null).length;
    const label = `All words: how far apart ${a} and ${b} are, and the confidence`;
    const chart = volcano(
      answered.words,
      changed.filter((item) => !grammar.has(item.word)),
      label,
      (word) => this.address(word),
    );
    const said = changed.length
      ? `${whole(changed.length)} of ${whole(tested)} words are used differently; one in twenty may be by accident.`
      : `None of ${whole(tested)} words is used differently beyond chance.`;
    const folded = changed.filter((item) => grammar.has(item.word));
    const others = changed.filter((item) => !grammar.has(item.word)).slice(0, LISTED);
    place.replaceChildren(
      element("p", { class: "lede" }, said),
      chart.place,
      element(
        "p",
        { class: "hint" },
        "Those that are surely farthest apart come first: the order is that of the least distance that is likely.",
        unshared(answered.level).map((text) => ` ${text}`),
      ),
      element(
        "ol",
        { class: "changed" },
        others.map((item) => this.changedWord(item, answered.contexts[item.word])),
      ),
      folded.length ? this.folded(folded) : "",
      tools({
        rows: answered.words,
        name: `${a} and ${b}`,
        python: this.python(null, [`print(compare(model, a, b, min_count=${LEAST}))`], ["compare"]),
        command: shell("alc", "concordance", "compare", this.both[0].chosen.path, ...this.options()),
        pictures: [chart.picture],
      }),
    );
  }

  folded(items) {
    const names = items.map((item, place) => [
      place ? ", " : "",
      element("a", { href: this.address(item.word) }, item.word),
    ]);
    const title = `${counted(items.length, "word")} of grammar, such as the, of and it, that also differ`;
    return element("details", {}, element("summary", {}, title), element("p", {}, names));
  }

  changedWord(item, lines) {
    const apart = ` ${number(item.distance)} apart (${number(item.conf_low)} to ${number(item.conf_high)})`;
    const title = [
      element("a", { href: this.address(item.word) }, item.word),
      element("span", { class: "hint" }, apart),
    ];
    if (!lines) return element("li", {}, title);
    const side = (which) => element("h3", { class: `label ${sideClass(which)}` }, this.names()[which]);
    const list = (some) =>
      element(
        "ul",
        {},
        some.map((line) => element("li", {}, marked(bracketed(line)))),
      );
    const both = [lines.a, lines.b].map((some, which) => element("div", {}, side(which), list(some)));
    const more = element("summary", {}, "The lines that contribute most");
    return element("li", {}, title, element("details", {}, more, element("div", { class: "two even" }, both)));
  }

  // Words that either side uses more often than the other.
  keywords() {
    const sides = this.sides();
    if (sides.corpus === sides.other && String(sides.where) === String(sides.other_where)) return [];
    const turned = { ...sides, corpus: sides.other, where: sides.other_where };
    Object.assign(turned, { other: sides.corpus, other_where: sides.where });
    const places = [sides, turned].map((asked, which) => this.keywordsOf(asked, which));
    const title = element("h2", {}, "Words that one side uses more often");
    return [title, element("div", { class: "keywords two even" }, places)];
  }

  keywordsOf(asked, which) {
    const place = element("div", { class: "reserved" });
    const [mine, others] = which ? ["b", "a"] : ["a", "b"];
    const name = this.names()[which];
    const work = async (signal) => {
      const answered = await ask("/api/keywords", { ...asked, limit: KEYWORDS }, false, signal);
      const lines = [`print(keywords(${mine}, ${others}, limit=${KEYWORDS}))`];
      const imports = ["from alacarte.concordance import keywords"];
      const label = `Words that ${name} uses more often`;
      place.replaceChildren(
        element("h3", { class: `label ${sideClass(which)}` }, name),
        wordTable(answered, MORE_OFTEN, label, (word) => this.address(word)),
        tools({ rows: answered.words, name: label, python: this.python(null, lines, [], imports) }),
      );
    };
    current(place, work, (error) => say(place, error));
    return place;
  }

  // ------------------------------------------------------------------------------------------------- the ways out

  options() {
    const [one, two] = this.both;
    const other = two.corpus() !== one.corpus() ? ["--other", two.chosen.path] : [];
    const where = [...conditions("--where", one.where()), ...other, ...conditions("--other-where", two.where())];
    return [...where, ...this.model.options];
  }

  python(word, lines, names, imports = []) {
    const sides = this.both.map((side, which) => `${"ab"[which]} = ${sliced(side.chosen.path, side.where())}`);
    return script(this.model, word, [...sides, ...lines], { names: ["Concordance", ...names], imports });
  }

  waysOut(answered, word, known, pictures) {
    const { words } = answered;
    const list = JSON.stringify(words.map((item) => item.word));
    const like = words.flatMap((item) => ["--like", item.word]);
    const nearest = (side) =>
      shell(
        "alc",
        "concordance",
        "nearest",
        side.chosen.path,
        ...named(word),
        ...like,
        ...conditions("--where", side.where()),
        ...this.model.options,
      );
    const compared = shell("alc", "concordance", "compare", this.both[0].chosen.path, ...this.options());
    const lines = [
      `induced = {"a": a.induce(model, target), "b": b.induce(model, target)}`,
      ...["a", "b"]
        .filter((_, side) => known[side])
        .map((side) => `print(induced["${side}"].uncertainty.similarities(${quoted(word)}, ${list}))`),
      `found = compare(model, a, b, target, min_count=${LEAST}, contexts=0)`,
      `print([item for item in found if item.word == ${quoted(word)}])`,
    ];
    return tools({
      rows: words.map((item) => ({ word: item.word, ...flatSide(item, "a"), ...flatSide(item, "b") })),
      name: word,
      python: this.python(word, lines, ["compare"]),
      command: [compared, ...this.both.filter((_, side) => known[side]).map(nearest)].join("\n"),
      pictures,
    });
  }
}

const HOW = [
  "How far apart the two sides are is 1 − the cosine that endless text would give; it is the same number, from the " +
    "same test of all words together, alone and among all words. What all words of a text have in common is taken " +
    "out first.",
  "The words in the picture are the nearest ones of either side. Likeness is the debiased cosine of this side's " +
    "vector with each word; the intervals are 95 % jackknife intervals over documents. In the view Word the same " +
    "word may be a little lower: there, words were chosen because this very vector lies nearest to them, and what " +
    "the choice alone " +
    "adds is taken off. Here the words are the same on both sides, so nothing is.",
];

const sideClass = (which) => (which ? "spelling" : "context");
const flatSide = (item, side) => ({
  [side]: item[side]?.estimate,
  [`${side}_low`]: item[side]?.conf_low,
  [`${side}_high`]: item[side]?.conf_high,
});

function verdictOf(row, differs, [a, b]) {
  if (row.reason) {
    const why = row.reason.replace(/\bin ([ab])\b/g, (_, side) => `of ${side === "a" ? a : b}`);
    return `Whether they differ is ${UNKNOWN}: ${why}.`;
  }
  const interval = `${number(row.conf_low)} to ${number(row.conf_high)}`;
  const apart = `${number(row.distance)} apart (${interval}; 0 is the same use)`;
  return differs ? `The two use it differently: ${apart}.` : `No difference is certain: ${apart}.`;
}

// A column of which the sides share hardly a value, in a sentence.
function unshared(level) {
  return level ? [`Hardly any ${level} is on both sides, so what is peculiar to one of them counts.`] : [];
}

// Of which sides anything can be known, by the reason why a comparison cannot be made.
function knownSides(reason) {
  const named_ = [...reason.matchAll(/\bin ([ab])\b/g)].map((found) => found[1]);
  return ["a", "b"].map((side) => !named_.includes(side));
}

// The command marks a word as [word], the page as **word**.
const bracketed = (line) => line.replace(/\[([^\]]*)\]/, "**$1**");
