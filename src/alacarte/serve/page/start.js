// Start: a finding in a corpus, in words, with its picture and the lines behind it; and what else the corpus is.

import {
  about,
  addressOf,
  ask,
  counted,
  current,
  element,
  inText,
  isKnown,
  job,
  keptAnswer,
  number,
  percent,
  quoted,
  say,
  script,
  state,
  whole,
} from "./common.js";
import { exampleLinks, inWords, modelOf, noCorpus } from "./slices.js";
import { bars, likeness, likenessRange, mirrored, overTime } from "./charts.js";
import { readDocument } from "./document.js";
import { findingOf } from "./finding.js";
import { tools } from "./share.js";

const PERIODS = 8;

export async function start(main) {
  const there = await about();
  if (!there.corpora.length) {
    noCorpus(main);
    return;
  }
  const name = state().get("corpus");
  const corpus = there.corpora.find((item) => item.name === name) ?? there.corpora[0];
  const view = new Start(corpus, await modelOf());
  main.replaceChildren(...view.places(), view.next(there));
  await view.answer();
}

class Start {
  constructor(corpus, model) {
    this.corpus = corpus;
    this.model = model;
    this.heading = element("h1", { class: "finding" }, "…");
    this.lede = element("p", { class: "lede" }, "…");
    this.picture = element("div", { class: "reserved" });
    this.lines = element("div", { class: "reserved" });
    this.whole = element("div", { class: "reserved" });
  }

  places() {
    const { name, documents, tokens } = this.corpus;
    const lines = element("div", {}, element("h2", {}, "In its own words"), this.lines);
    this.caption = element("h2", {}, "Likeness, with 95 % intervals");
    const picture = element("div", {}, this.caption, this.picture);
    const title = element("h2", {}, `${name}: ${counted(documents, "document")}, ${counted(tokens, "word")}`);
    this.all = element("section", {}, title, this.whole);
    return [this.heading, this.lede, element("div", { class: "two" }, picture, lines), this.all];
  }

  next(there) {
    const { name, examples } = this.corpus;
    const link = (text, href) => element("a", { href }, text);
    const words = examples.slice(0, 5).map((phrase) => [phrase, addressOf("/word", { corpus: name, phrase })]);
    return element(
      "section",
      { class: "next" },
      element("h2", {}, "And now"),
      exampleLinks(words, "Ask about another word: "),
      element("p", { class: "examples" }, link("Invent a word", "/invent"), " and see what it could mean."),
      there.keeps
        ? element("p", { class: "examples" }, link("Bring your own text", "/corpora"), ": drop a file onto the page.")
        : "",
    );
  }

  // ---------------------------------------------------------------------------------------------------- the finding

  async answer() {
    await Promise.all([
      current(
        this.picture,
        (signal) => this.finding(signal),
        (error) => this.without(error),
      ),
      current(
        this.whole,
        (signal) => this.overview(signal),
        (error) => say(this.whole, error),
      ),
    ]);
  }

  async finding(signal) {
    const { corpus } = this;
    const found = corpus.finding ?? (await this.found(signal));
    if (!found.where) {
      await this.nearest(found.phrase, signal);
      return;
    }
    const asked = { corpus: corpus.name, ...found, model: this.model.name };
    const answered = await ask("/api/compare", asked, false, signal);
    const sides = [inWords(found.where, corpus.columns), inWords(found.other_where, corpus.columns)];
    this.heading.replaceChildren(...findingOf(found.phrase, sides, answered.moved));
    const uses = answered.sides.map((side, which) => `${counted(side.uses, "use")} ${sides[which]}`);
    const more = addressOf("/compare", { corpus: corpus.name, ...found });
    this.lede.replaceChildren(`${uses.join(", ")}. `, element("a", { href: more }, "Look closer"), ".");
    await this.draw(found, sides, answered, signal);
    await this.evidence(found, sides, signal);
  }

  // A word of this corpus that is worth a look, and on which sides.
  async found(signal) {
    const bar = element("progress", { "aria-label": "Comparing all words" });
    this.picture.replaceChildren(element("p", { class: "hint" }, "Looking for words that moved … "), bar);
    const show = ({ done, total }) => {
      if (total) Object.assign(bar, { max: total, value: done });
    };
    const asked = { corpus: this.corpus.name, model: this.model.name };
    return keptAnswer("/api/finding", asked, () => job("/api/finding", asked, show, signal));
  }

  async draw(found, sides, { moved, words }, signal) {
    const { corpus, model } = this;
    const date = corpus.columns.find((column) => column.kind === "date");
    const others = moved.filter(Boolean);
    if (!date || !others.length) {
      const address = (phrase) => addressOf("/compare", { corpus: corpus.name, ...found, phrase });
      const label = `How like other words ${found.phrase} is, with 95 percent intervals`;
      this.picture.replaceChildren(mirrored(words, sides, label, address, [true, true]).place);
      return;
    }
    const values = { corpus: corpus.name, phrase: found.phrase, column: date.name, words: others, most: PERIODS };
    const { rows } = await ask("/api/over", { ...values, model: model.name }, false, signal);
    const periods = [...new Set(rows.map((row) => row.period))];
    const curves = others.map((word, which) => this.curve(found.phrase, rows, word, ["context", "spelling"][which]));
    this.caption.textContent = `How like ${others.join(" and ")} it is, with 95 % bands`;
    const label = `How like ${others.join(" and ")} ${found.phrase} is over time, with 95 percent bands`;
    const chart = overTime(curves, periods, likenessRange(rows), label);
    const numbers = rows.map(({ where: _where, ...row }) => row);
    const python = overScript(model, corpus, found.phrase, date.name, others);
    const out = tools({ rows: numbers, name: found.phrase, python, pictures: [chart.picture] });
    this.picture.replaceChildren(chart.place, out);
  }

  curve(phrase, rows, word, colour) {
    const points = rows
      .filter((row) => row.other === word)
      .map((row) => ({
        period: row.period,
        uses: row.uses,
        value: row.estimate,
        low: row.conf_low,
        high: row.conf_high,
        known: row.estimate !== null && isKnown(row),
        title: `${row.period}: ${word} ${number(row.estimate)}; ${counted(row.uses, "use")}`,
        href: addressOf("/word", { corpus: this.corpus.name, phrase, where: row.where }),
      }));
    return { name: word, colour, points };
  }

  // The line that contributes most on either side.
  async evidence(found, sides, signal) {
    const { corpus, model } = this;
    const asked = { corpus: corpus.name, phrase: found.phrase, limit: 1, model: model.name };
    const wheres = [found.where, found.other_where];
    const both = wheres.map((where) => this.strongest({ ...asked, where }, signal));
    const lines = (await Promise.all(both)).map(([line], which) => this.line(line, sides[which], which));
    this.lines.replaceChildren(...lines);
  }

  async strongest(values, signal) {
    const work = () => job("/api/influence", values, () => {}, signal);
    return (await keptAnswer("/api/influence", values, work)).lines;
  }

  line(line, side, which) {
    if (!line) return "";
    const from = Object.values(line.columns).filter(Boolean).join(", ");
    const open = element("button", { type: "button", class: "link" }, from || "Read the document");
    open.addEventListener("click", () => readDocument(line, this.corpus.name));
    const text = ["… ", ...inText(line, "target"), " …"];
    return element(
      "figure",
      { class: "quote" },
      side ? element("h3", { class: `label ${which ? "spelling" : "context"}` }, side) : null,
      element("blockquote", { class: "sentence" }, text),
      element("figcaption", {}, open, ` · counts most: ${percent(Math.abs(line.share))} of the vector`),
    );
  }

  // A corpus without sides, or in which nothing moved: what one of its words means here.
  async nearest(phrase, signal) {
    const { corpus, model } = this;
    if (!phrase) throw new Error("This corpus has too few words for a finding; add more text.");
    const values = { corpus: corpus.name, phrase, where: [] };
    const answered = await ask("/api/word", { ...values, model: model.name }, false, signal);
    const [first] = answered.nearest;
    const said = first ? [" is closest to ", element("em", {}, first.other)] : [""];
    this.heading.replaceChildren("Here ", element("em", {}, phrase), ...said);
    const more = element("a", { href: addressOf("/word", values) }, "Look closer");
    this.lede.replaceChildren(`${counted(answered.uses, "use")}. `, more, ".");
    const label = `The words most like ${phrase} here, with 95 percent intervals`;
    const address = (other) => addressOf("/word", { corpus: corpus.name, phrase: other });
    this.picture.replaceChildren(likeness(answered.nearest, label, address).place);
    const lines = await this.strongest({ ...values, limit: 2, model: model.name }, signal);
    this.lines.replaceChildren(...lines.map((line) => this.line(line, "", 0)));
  }

  without(error) {
    this.heading.replaceChildren(this.corpus.name);
    this.lede.textContent = "";
    say(this.picture, error);
  }

  // --------------------------------------------------------------------------------------------- the whole of it

  async overview(signal) {
    const { corpus, model } = this;
    const values = { corpus: corpus.name, model: model.name };
    const found = await keptAnswer("/api/overview", values, () => job("/api/overview", values, () => {}, signal));
    const list = (title, rows) => [
      element("h3", {}, title),
      element("p", { class: "examples" }, ...commas(rows.map((row) => this.wordLink(row)))),
    ];
    const address = (row) => addressOf("/word", { corpus: corpus.name, where: row.where });
    const title = `Documents by ${found.column}`;
    const parts = [
      found.periods.length && [element("h3", {}, title), bars(found.periods, "documents", title, address).place],
      found.phrases.length && list("Its phrases", found.phrases),
      found.words.length && list("Words that the vectors do not have", found.words),
    ].filter(Boolean);
    const [first, ...others] = parts;
    this.whole.replaceChildren(element("div", { class: "two" }, element("div", {}, first), element("div", {}, others)));
  }

  wordLink({ word, count }) {
    const link = element("a", { href: addressOf("/word", { corpus: this.corpus.name, phrase: word }) }, word);
    return [link, element("span", { class: "hint" }, ` ${whole(count)}`)];
  }
}

const commas = (items) => items.flatMap((item, place) => [place ? ", " : "", item]);

// The notebook cell that gives the same numbers.
function overScript(model, corpus, phrase, column, others) {
  const lines = [
    `corpus = Concordance(${quoted(corpus.path)})`,
    `print(over_periods(corpus, model, target, ${quoted(column)}, ${JSON.stringify(others)}, most=${PERIODS}))`,
  ];
  const imports = ["from alacarte.concordance import over_periods"];
  return script(model, phrase, lines, { names: ["Concordance"], imports });
}
