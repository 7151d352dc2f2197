// Map: words on a plane, from the vectors' own place to the corpus's, with regions of doubt.

import {
  about,
  addressOf,
  ask,
  counted,
  current,
  download,
  element,
  entitle,
  go,
  inText,
  say,
  script,
  sliced,
  state,
  visit,
  whole,
} from "./common.js";
import { figureOf, png, tools } from "./share.js";
import { noteForm } from "./keeping.js";
import { Plane } from "./plane.js";
import { modelOf, noCorpus, sliceForm } from "./slices.js";

const BEHIND = [0, 2000, 20000, 100000];
const LINES = 4; // of a word that are shown beside the map
const LEDE =
  "An arrow leads from where the vectors put a word to where this text puts it, without what all its words share; " +
  "the ring is where it may be, with 95 % certainty. Without words of yours, those that this text surely moves most.";

export async function map(main) {
  const there = await about();
  if (!there.corpora.length) {
    noCorpus(main);
    return;
  }
  const given = state();
  const form = await sliceForm("", given.get("corpus"), given.getAll("where"));
  const view = new MapView(await modelOf(), form, given);
  const heading = element("h1", {}, "Where does this text put words?");
  const lede = element("p", { class: "lede" }, LEDE);
  main.replaceChildren(heading, lede, view.search(), ...view.places(), there.keeps ? noteForm() : "");
  await view.answer(false);
}

class MapView {
  constructor(model, form, given) {
    this.model = model;
    this.form = form;
    this.given = given;
    this.words = element("textarea", { id: "words", rows: 1, spellcheck: "false", "data-search": true });
    this.words.value = given.getAll("words").join(" ");
    const now = given.get("background") ?? "2000";
    const option = (count) =>
      element("option", { value: count, selected: String(count) === now }, count ? `${whole(count)} words` : "none");
    this.background = element("select", { id: "background" }, BEHIND.map(option));
    this.shown = element("div", { class: "reserved drawn" });
    this.told = element("p", { class: "hint", role: "status" });
    this.lines = element("div", { class: "beside-map", "aria-live": "polite" });
  }

  places() {
    return [this.told, this.shown, this.lines];
  }

  search() {
    const onsubmit = (event) => {
      event.preventDefault();
      this.answer();
    };
    this.form.place.append(element("div", {}, element("label", { for: "background" }, "Behind them"), this.background));
    const button = element("button", { type: "submit", class: "plain" }, "Draw");
    const label = element("label", { for: "words" }, "Words");
    const search = element("form", { onsubmit }, label, this.words, this.form.place, button);
    search.addEventListener("change", (event) => {
      if (event.target.id !== "corpus") return;
      visit(addressOf("/map", { corpus: this.form.corpus(), model: this.given.get("model") }));
    });
    return search;
  }

  values() {
    const words = this.words.value.split(/[\s,]+/).filter(Boolean);
    const asked = { corpus: this.form.corpus(), where: this.form.where(), words };
    return { ...asked, background: this.background.value, model: this.given.get("model") };
  }

  answer(push = true) {
    const values = this.values();
    if (push) go("/map", values);
    entitle(values.words.slice(0, 4).join(", "), "Map");
    this.told.textContent = "…";
    this.lines.replaceChildren();
    const work = async (signal) => {
      const answered = await ask("/api/map", values, false, signal);
      const { missing } = answered;
      this.told.textContent = missing.length ? `Not in this text: ${missing.join(", ")}.` : "";
      this.draw(answered, values);
    };
    return current(this.shown, work, (error) => {
      this.told.textContent = "";
      say(this.shown, error);
    });
  }

  draw(answered, values) {
    const address = (phrase) => addressOf("/word", { corpus: values.corpus, where: values.where, phrase });
    const plane = new Plane(answered, address, (point, chosen) => this.show(point, chosen, values));
    const legend = element(
      "p",
      { class: "hint" },
      "• where this text puts a word, ◌ where it may be, → from where the vectors put it; grey: other words of the " +
        "vectors. Point at a word for its lines, click on it to see it alone. Drag, pinch, turn the wheel or press " +
        "+ and − to move and zoom.",
    );
    const save = async () =>
      download(await png(figureOf(plane.picture, false), plane.behind), "map-with-background.png");
    const withBehind = element(
      "button",
      { type: "button", class: "plain", onclick: save },
      "PNG with the words behind",
    );
    this.shown.replaceChildren(plane.place, legend, this.out(answered, values, plane), withBehind);
    plane.begin();
  }

  // The lines of a word that one points at, or that was chosen.
  show(point, chosen, values) {
    const work = async (signal) => {
      const asked = { corpus: values.corpus, where: values.where, phrase: point.word, limit: LINES };
      const { lines, count } = await ask("/api/lines", asked, false, signal);
      const address = addressOf("/word", { corpus: values.corpus, where: values.where, phrase: point.word });
      const line = (each) => element("li", {}, inText(each));
      const more = element("a", { href: address }, `All ${counted(count, "line")} of ${point.word}`);
      const title = element("h2", {}, chosen ? `${point.word} alone; click on it again for all` : point.word);
      this.lines.replaceChildren(title, element("ul", {}, lines.map(line)), more);
    };
    return current(this.lines, work, (error) => say(this.lines, error));
  }

  out({ points }, values, plane) {
    const words = points.map((point) => point.word);
    const path = this.form.chosen.path;
    const lines = [
      `corpus = ${sliced(path, values.where)}`,
      `induced = corpus.induce(model, ${JSON.stringify(words)})`,
      "print(word_map(induced.uncertainty))",
    ];
    const imports = ["from alacarte.comparing.word_map import word_map"];
    const python = script(this.model, null, lines, { names: ["Concordance"], imports });
    return tools({ rows: points, name: "map", python, pictures: [plane.picture] });
  }
}
