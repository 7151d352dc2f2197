// Invent: a word that nobody knows, and what it could mean.

import {
  about,
  addressOf,
  ask,
  counted,
  current,
  element,
  entitle,
  goSoon,
  isKnown,
  job,
  percent,
  quoted,
  say,
  script,
  shell,
  state,
  sure,
} from "./common.js";
import { tools } from "./share.js";
import { noteForm } from "./keeping.js";
import { exampleLinks, modelOf } from "./slices.js";
import { likeness, table } from "./charts.js";

const EXAMPLES = {
  blorp: [
    "They drank a bottle of fine french blorp with their meal.",
    "A glass of chilled blorp goes well with oysters and lemon.",
    "The vineyard sold its best blorp to restaurants in Paris.",
    "She poured the sweet blorp and tasted the grapes in it.",
    "Old blorp from that cellar costs more than a dinner.",
  ],
  mirp: [
    "The mirp ran through the forest and climbed a tall tree.",
    "A small grey mirp with a long tail ate the nuts.",
    "Hunters saw a wild mirp and its young near the river.",
    "Our cat chased the mirp around the garden all morning.",
    "In winter the mirp sleeps in a nest of leaves and fur.",
  ],
  tralk: [
    "The doctor gave her tralk for the pain after surgery.",
    "Patients who took tralk every day had fewer symptoms.",
    "A higher dose of tralk can cause headache and nausea.",
    "The company tested tralk in clinical trials last year.",
    "Without a prescription, no pharmacy will sell you tralk.",
  ],
};
const WAYS = ["spelling", "both", "contexts"];
const IN_WORDS = {
  spelling: "from its spelling alone",
  both: "from its spelling and the sentences",
  contexts: "from the sentences alone",
};
const WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

export async function invent(main) {
  const view = new Invent(await about(), await modelOf(), state());
  main.replaceChildren(...view.places());
  await view.answer();
}

class Invent {
  constructor(there, model, given) {
    this.there = there;
    this.model = model;
    this.given = given;
    this.asking = false;
    this.changed = false;
    this.shownName = "";
    this.tokens = new Map();
    const name = given.get("word") ?? "blorp";
    const sentences = given.getAll("sentence");
    const usual = EXAMPLES[name] ?? EXAMPLES.blorp.map((line) => line.replace("blorp", name));
    this.last = name;
    const field = { id: "target", value: name, autocomplete: "off", spellcheck: "false", "data-search": true };
    this.word = element("input", field);
    this.text = element("textarea", { id: "sentences", spellcheck: "false", rows: 1 });
    this.text.value = (sentences.length ? sentences : usual).join("\n");
    const value = Math.max(0, WAYS.indexOf(given.get("by") ?? "contexts"));
    this.way = element("input", { id: "by", type: "range", min: 0, max: 2, step: 1, value });
    this.told = element("p", { class: "hint", id: "by-hint", role: "status" });
    this.learn = element("div", {});
    this.heading = element("h1", {});
    this.shades = element("div", { class: "shades", "aria-hidden": "true" });
    this.adds = element("div", {});
    this.wrong = element("div", {});
    this.result = element("div", { class: "reserved", "aria-live": "polite" });
    this.word.addEventListener("input", () => this.renamed());
    for (const input of [this.text, this.way]) input.addEventListener("input", () => this.answer());
    this.shade();
  }

  places() {
    const { there } = this;
    const lede =
      "Make up a word and use it in sentences, one a line. What it could mean appears beside them, with the " +
      "confidence in it. Shaded words are the ones it comes from.";
    const others = Object.entries(EXAMPLES).filter(([name]) => name !== this.last);
    const links = others.map(([name, lines]) => [name, addressOf("/invent", { word: name, sentence: lines })]);
    const ends = [
      element("label", { for: "by", class: "spelling" }, "spelling"),
      this.way,
      element("span", { class: "context", "aria-hidden": "true" }, "sentences"),
    ];
    const written = element(
      "div",
      {},
      element("label", { for: "target" }, "The word"),
      this.word,
      element("h2", {}, element("label", { for: "sentences" }, "Sentences")),
      element("div", { class: "sheet" }, this.shades, this.text),
      this.adds,
      this.wrong,
      element("div", { class: "slider" }, ends),
      this.told,
      this.learn,
      exampleLinks(links, "Or try "),
    );
    const answer = element("div", {}, element("h2", {}, "Nearest words"), this.result);
    const both = element("div", { class: "two" }, written, answer);
    return [this.heading, element("p", { class: "lede" }, lede), both, there.keeps ? noteForm() : ""];
  }

  // The sentences keep their word when it gets another name.
  renamed() {
    const name = this.word.value.trim();
    if (name) {
      this.text.value = this.text.value.replace(pattern(this.last, "giu"), () => name);
      this.last = name;
    }
    this.answer();
  }

  // One question at a time: what is typed meanwhile is asked at once when the answer is there.
  async answer() {
    this.shade();
    this.changed = true;
    if (this.asking) return;
    this.asking = true;
    try {
      while (this.changed && (this.heading.isConnected || !this.shownName)) {
        this.changed = false;
        await this.askNow();
      }
    } finally {
      this.asking = false;
    }
  }

  async askNow() {
    const name = this.word.value.trim();
    const lines = this.text.value.split("\n").map((line) => line.trim());
    const by = WAYS[this.way.value];
    const written = lines.filter(Boolean);
    const sent = written.filter((line) => pattern(name).test(line));
    this.heading.replaceChildren("What could ", element("em", {}, name || "…"), " mean?");
    entitle(name, "Invent");
    this.way.setAttribute("aria-valuetext", by);
    const waiting = written.length - sent.length;
    const waits = waiting && name ? ` ${counted(waiting, "sentence")} without the word.` : "";
    this.told.textContent = `Now ${IN_WORDS[by]}. Drag to see each alone.${waits}`;
    const way = by === "contexts" ? "" : by;
    goSoon("/invent", { word: name, sentence: written, by: way, model: this.given.get("model") });
    if (!name || (!written.length && by !== "spelling")) {
      this.nothing(name ? "Use the word in a sentence." : "Which word?");
      return;
    }
    if (by !== "contexts" && !this.there.spelling) {
      this.offer();
      return;
    }
    this.learn.replaceChildren();
    if (!sent.length && by !== "spelling") {
      // what was known stays until a sentence holds the word
      if (this.shownName !== name) this.nothing(`None of the sentences has ${name} in it yet.`);
      return;
    }
    const values = { sentences: by === "spelling" ? [] : sent, word: name, by, model: this.model.name };
    const work = async (signal) => {
      const answered = await ask("/api/invent", values, true, signal);
      this.wrong.replaceChildren();
      this.tokens = new Map(answered.words.map((item) => [item.word, item.share]));
      this.shade();
      this.show(answered, name, sent, by);
      this.shownName = name;
    };
    await current(this.result, work, (error) => say(this.wrong, error));
  }

  nothing(said) {
    this.wrong.replaceChildren();
    this.shownName = "";
    this.tokens = new Map();
    this.shade();
    this.result.replaceChildren(element("p", { class: "hint" }, said));
  }

  offer() {
    const bar = element("progress", { hidden: true, "aria-label": "learning" });
    const onclick = async () => {
      button.disabled = true;
      bar.hidden = false;
      const work = async (signal) => {
        await job("/api/spelling", { model: this.model.name }, () => {}, signal, true);
        this.there.spelling = true;
        await this.answer();
      };
      await current(this.learn, work, (error) => say(this.learn, error));
    };
    const button = element("button", { type: "button", class: "plain", onclick }, "Learn it");
    const said = "What spelling says about meaning is learned from the vectors once, which takes about a minute. ";
    this.learn.replaceChildren(element("p", { class: "hint" }, said), button, " ", bar);
  }

  // Behind the sentences, each word is shaded by what it adds; the word itself is underlined.
  shade() {
    const name = this.word.value.trim();
    const largest = Math.max(...this.tokens.values(), 1e-9);
    const lines = this.text.value.split("\n").map((line) => {
      const found = name ? pattern(name, "giu") : /(?!)/g;
      const has = name && pattern(name).test(line);
      const parts = cut(line, found).flatMap(([part, isTarget]) =>
        isTarget ? element("span", { class: "target" }, part) : has ? this.shaded(part, largest) : part,
      );
      return element("span", { class: has || !line.trim() ? "" : "waiting" }, parts, "\n");
    });
    this.shades.replaceChildren(...lines);
    const rows = [...this.tokens].filter(([, share]) => share > 0).map(([word, share]) => [word, percent(share)]);
    this.adds.replaceChildren(rows.length ? table("What each word adds", ["word", "share"], rows) : "");
  }

  shaded(text, largest) {
    return cut(text, WORD).map(([part, isWord]) => {
      const share = isWord ? (this.tokens.get(part.toLowerCase()) ?? 0) : 0;
      if (share <= 0) return part;
      const shown = element("span", { class: "share" }, part);
      shown.style.setProperty("--s", Math.round((60 * share) / largest));
      return shown;
    });
  }

  show(answered, name, lines, by) {
    const drawn = answered.nearest?.length;
    const label = `The words most like ${name}, with 95 percent intervals`;
    const open = this.there.corpora.length ? (other) => addressOf("/word", { phrase: other }) : undefined;
    const chart = drawn ? likeness(answered.nearest, label, open) : null;
    const hint = (text) => element("p", { class: "hint" }, text);
    const confidence =
      by === "spelling"
        ? hint("The confidence in a spelling cannot be known.")
        : sure(answered.confidence, `of what many sentences would give, from ${counted(answered.contexts, "use")}`);
    const grey = by !== "spelling" && !answered.nearest?.some(isKnown);
    this.result.replaceChildren(
      confidence,
      chart ? chart.place : hint("One more sentence, and the nearest words appear, each with an interval."),
      grey ? hint("Grey: so few sentences cannot tell how alike. More of them sharpen it.") : "",
      tools({
        rows: answered.nearest ?? answered.words,
        name,
        python: this.python(name, lines, by),
        command: this.command(name, lines, by),
        pictures: chart ? [chart.picture] : [],
      }),
    );
  }

  python(name, lines, by) {
    const opened = `${this.model.python}${by === "contexts" ? "" : ".with_form()"}`;
    const form = by === "both" ? ", form=True" : "";
    const vector = `model.embed_parts([], ${quoted(name)}).fused[0]`;
    if (by === "spelling") {
      const asked = `for word, cosine in model.nearest(${vector}, among=30_000):`;
      return script(this.model, null, [asked, "    print(word, cosine)"], { opened });
    }
    const asked = [
      `sentences = ${JSON.stringify(lines, null, 4)}`,
      `explained = explain(model, sentences, ${quoted(name)}, among=30_000${form})`,
      "print(explained)",
      "print(explained.nearest)",
    ];
    return script(this.model, null, asked, { names: ["explain"], opened });
  }

  command(name, lines, by) {
    const contexts = by === "spelling" ? [] : lines.flatMap((line) => ["--context", line]);
    const ways = [...(by === "both" ? ["--form"] : []), ...(by === "spelling" ? [] : ["--explain"])];
    return shell("alc", "embed", ...this.model.options, "--word", name, "--among", "30000", ...contexts, ...ways);
  }
}

// The parts of a text, in their order, and whether each is one of those that were looked for.
function cut(text, looked) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(looked)) {
    if (found.index > from) parts.push([text.slice(from, found.index), false]);
    parts.push([found[0], true]);
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push([text.slice(from), false]);
  return parts;
}

// A word or phrase in a sentence, as a word of its own; nothing is found for the empty one.
function pattern(name, flags = "iu") {
  const words = name.split(/\s+/).filter(Boolean);
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  if (!words.length) return /(?!)/;
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped.join("\\s+")}(?![\\p{L}\\p{N}])`, flags);
}
