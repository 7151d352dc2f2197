// Over time: a phrase by the periods of a column, on one side or two; each word it is like has a picture of its own.

import {
  addressOf,
  ask,
  counted,
  current,
  element,
  isKnown,
  quoted,
  remember,
  say,
  script,
  sliced,
  UNKNOWN,
  whole,
} from "./common.js";
import { tools } from "./share.js";
import { isOrdered } from "./slices.js";
import { COLOURS, likenessRange, overTime, periodName } from "./charts.js";

const MOST = 7; // words that are compared with
const SIZE = { most: 290, tall: 190 }; // pixels of a picture

// `sides` have a form (the corpus), values (what is asked) and a name; the colours are the sides.
export function time(sides, others, before, model) {
  const ordered = (side, name) => side.form.chosen.columns.some((column) => column.name === name && isOrdered(column));
  const columns = sides[0].form.chosen.columns.filter(({ name }) => sides.every((side) => ordered(side, name)));
  if (!columns.length) return element("p", { class: "hint" }, "No column has dates or numbers.");
  return new Time(sides, columns, others, before, model).place;
}

class Time {
  constructor(sides, columns, others, before, model) {
    this.sides = sides;
    this.model = model;
    this.several = sides.length > 1;
    this.phrase = sides[0].values.phrase;
    const none = element("option", { value: "" }, "choose a column of dates or numbers");
    const option = ({ name }) => element("option", { value: name, selected: name === before }, name);
    this.column = element("select", { id: "over" }, none, columns.map(option));
    this.words = element("input", { id: "over-words", value: others.join(" "), autocomplete: "off" });
    this.shown = element("div", { "aria-live": "polite" });
    const label = (id, text) => element("label", { for: id }, text);
    this.place = element(
      "div",
      {},
      element(
        "div",
        { class: "asks" },
        element("div", {}, label("over", "Column"), this.column),
        element("div", {}, label("over-words", "Likeness to"), this.words),
      ),
      this.shown,
    );
    for (const input of [this.column, this.words]) input.addEventListener("change", () => this.draw());
    if (this.column.value) this.draw(false);
  }

  draw(changed = true) {
    const list = this.words.value.split(/\s+/).filter(Boolean).slice(0, MOST);
    const by = this.column.value;
    if (changed) remember({ over: by, with: list });
    const question = ({ values }) => ({ ...values, column: by, words: list, model: this.model.name });
    const work = async (signal) => {
      const asked = by ? this.sides.map((side) => ask("/api/over", question(side), false, signal)) : [];
      const answers = (await Promise.all(asked)).map((answer) => answer.rows);
      this.shown.replaceChildren(...(by ? this.drawn(answers, list, by) : []));
    };
    return current(this.shown, work, (error) => say(this.shown, error));
  }

  drawn(answers, list, by) {
    const figures = this.figures(answers, list, by);
    const doubtful = answers.flat().some((row) => row.other && row.uses && !known(row));
    return [
      element(
        "div",
        { class: "small" },
        figures.map(({ title, chart }) => element("figure", {}, element("figcaption", {}, title), chart.place)),
      ),
      doubtful ? element("p", { class: "hint" }, `Grey, at the foot: ${UNKNOWN}.`) : "",
      this.behind(answers),
      this.ways(
        answers,
        list,
        by,
        figures.map(({ chart }) => chart.picture),
      ),
    ];
  }

  // ------------------------------------------------------------------------------------------------------ pictures

  figures(answers, list, by) {
    const { phrase, sides } = this;
    const periods = inOrder(answers);
    const range = likenessRange(answers.flat());
    const often = answers.map((rows, side) => this.often(rows, side));
    const most = 1.05 * Math.max(1, ...often.flatMap(({ points }) => points.map((point) => point.value)));
    const like = list.map((word) => {
      const curves = sides.map((_, side) => this.curve(answers[side], side, word));
      const label = `How like ${word} ${phrase} is, by ${by}, with 95 percent bands`;
      return { title: `How like ${word}`, chart: overTime(curves, periods, range, label, SIZE) };
    });
    const label = `How often ${phrase} is used, by ${by}`;
    const uses = { title: "Uses in a million words", chart: overTime(often, periods, [0, most], label, SIZE) };
    return [...like, uses];
  }

  // How like a word the phrase is in each period of a side.
  curve(rows, side, word) {
    const value = (row) => `${row.estimate.toFixed(2)} (${row.conf_low.toFixed(2)} to ${row.conf_high.toFixed(2)})`;
    return this.points(
      side,
      rows.filter((row) => row.other === word),
      (row) => ({ value: row.estimate, low: row.conf_low, high: row.conf_high, known: known(row) }),
      (row) => (known(row) ? `${word} ${value(row)}` : `${word}, ${UNKNOWN}`),
    );
  }

  // How often it is used; nothing is known of a period without documents, which is a gap in the curve.
  often(rows, side) {
    return this.points(
      side,
      [...new Map(rows.map((row) => [row.period, row])).values()],
      (row) => ({ value: row.per_million, known: row.per_million !== null }),
      (row) => `${row.per_million?.toFixed(1)} a million words`,
    );
  }

  points(side, rows, measured, said) {
    const points = rows.map((row) => ({
      period: row.period,
      uses: row.uses,
      title: `${periodName(row.period)}: ${said(row)}; ${counted(row.uses, "use")}`,
      href: this.evidence(side, row),
      ...measured(row),
    }));
    return { name: this.several ? this.sides[side].name : "", colour: COLOURS[side], points };
  }

  evidence(side, row) {
    const { values } = this.sides[side];
    return addressOf("/word", { ...values, where: [...values.where, ...row.where] });
  }

  // --------------------------------------------------------------------------------------------------- the ways out

  behind(answers) {
    const link = (side, row) =>
      element("a", { href: this.evidence(side, row) }, `${periodName(row.period)} (${whole(row.uses)})`);
    const list = (rows, side) => [...new Map(rows.map((row) => [row.period, [link(side, row), " "]])).values()];
    const title = (side) => (this.several ? `${this.sides[side].name}: ` : "");
    return element(
      "details",
      { class: "hint" },
      element("summary", {}, "The lines behind each period"),
      answers.map((rows, side) => element("p", {}, title(side), list(rows, side))),
    );
  }

  ways(answers, list, by, pictures) {
    const { model, phrase, sides } = this;
    const corpora = sides.map(({ form, values }) => sliced(form.chosen.path, values.where));
    const lines = [
      `for corpus in [${corpora.join(", ")}]:`,
      `    print(over_periods(corpus, model, target, ${quoted(by)}, ${JSON.stringify(list)}))`,
    ];
    const imports = ["from alacarte.concordance import over_periods"];
    const numbers = ({ where: _where, ...row }, side) => (this.several ? { side: sides[side].name, ...row } : row);
    return tools({
      rows: answers.flatMap((rows, side) => rows.map((row) => numbers(row, side))),
      name: `${phrase} by ${by}`,
      python: script(model, phrase, lines, { names: ["Concordance"], imports }),
      pictures,
    });
  }
}

const known = (row) => row.estimate !== null && isKnown(row);

// The periods of all sides; two corpora may be cut at different places.
function inOrder(answers) {
  const lists = answers.map((rows) => [...new Set(rows.map((row) => row.period))]);
  const all = [...new Set(lists.flat())];
  const begins = (name) => Number(/\d+(\.\d+)?/.exec(name)?.[0] ?? -Infinity);
  return all.length === lists[0].length ? all : all.sort((one, two) => begins(one) - begins(two));
}
