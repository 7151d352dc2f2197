// Invent: a word that nobody knows, and what it could mean.

import { about, ask, element, go, isKnown, job, modelOf, noteForm, percent, quoted, say, shell, state, sure, tools } from "./common.js";
import { likeness } from "./charts.js";

const EXAMPLE = [
  "They drank a bottle of fine french blorp with their meal.",
  "A glass of chilled blorp goes well with oysters and lemon.",
  "The vineyard sold its best blorp to restaurants in Paris.",
];
const WAYS = ["spelling", "both", "contexts"];
const IN_WORDS = { spelling: "from its spelling alone", both: "from its spelling and the sentences", contexts: "from the sentences alone" };

export async function invent(main) {
  const given = state(), sentences = given.getAll("sentence"), there = await about(), model = await modelOf();
  const word = element("input", { id: "target", value: given.get("word") ?? "blorp", autocomplete: "off", spellcheck: "false" });
  const text = element("textarea", { id: "sentences", spellcheck: "false" });
  text.value = (sentences.length ? sentences : EXAMPLE).join("\n");
  const way = element("input", { id: "by", type: "range", min: 0, max: 2, step: 1, value: Math.max(0, WAYS.indexOf(given.get("by") ?? "contexts")), "aria-valuetext": "contexts" });
  const told = element("p", { class: "hint", id: "by-hint", role: "status" }), learn = element("div", {});
  const heading = element("h1", {}), shaded = element("div", {}), result = element("div", { "aria-live": "polite" });
  let asking = false, changed = false;

  // One question at a time: what is typed meanwhile is asked at once when the answer is there.
  async function answer() {
    changed = true;
    if (asking) return;
    asking = true;
    while (changed) {
      changed = false;
      await askNow();
    }
    asking = false;
  }

  async function askNow() {
    const name = word.value.trim(), lines = text.value.split("\n").map((line) => line.trim()).filter(Boolean), by = WAYS[way.value];
    heading.replaceChildren("What could ", element("em", {}, name || "…"), " mean?");
    way.setAttribute("aria-valuetext", by);
    told.textContent = `Now ${IN_WORDS[by]}. Drag to see each alone.`;
    go("/invent", { word: name, sentence: lines, by: by === "contexts" ? "" : by, model: given.get("model") }, true);
    if (!name || (!lines.length && by !== "spelling")) return;
    if (by !== "contexts" && !there.spelling) { offer(); return; }
    learn.replaceChildren();
    try {
      show(await ask("/api/invent", { sentences: lines, word: name, by, model: given.get("model") ?? "" }, true), name, lines, by);
    } catch (error) { say(result, error); }
  }

  function offer() {
    const bar = element("progress", { hidden: true, "aria-label": "learning" });
    const button = element("button", { type: "button", class: "plain", onclick: async () => {
      button.disabled = true;
      bar.hidden = false;
      try {
        await job("/api/spelling", { model: given.get("model") ?? "" }, () => {}, undefined, true);
        there.spelling = true;
        await answer();
      } catch (error) { say(learn, error); }
    } }, "Learn it");
    learn.replaceChildren(element("p", { class: "hint" }, "What spelling says about meaning has to be learned from the vectors once, which takes about a minute. "), button, " ", bar);
  }

  function show(answered, name, lines, by) {
    const largest = Math.max(...answered.words.map((item) => item.share), 1e-9);
    const share = new Map(answered.words.map((item) => [item.word, item.share])), target = new Set(name.toLowerCase().split(/\s+/));
    shaded.replaceChildren(...answered.tokens.map((tokens) => element("p", { class: "sentence" }, tokens.flatMap((token) => {
      const part = share.get(token) ?? 0;
      const shade = element("span", target.has(token) ? { class: "target" } : { class: "share", title: percent(part) }, token);
      shade.style.setProperty("--s", Math.round((60 * Math.max(0, part)) / largest));
      return [shade, " "];
    }))));
    const form = { contexts: "", both: ", form=True", spelling: "" }[by];
    const python = `from alacarte import ALaCarte, explain\n\nmodel = ${model.python}${by === "contexts" ? "" : ".with_form()"}\n`
      + (by === "spelling" ? `model.nearest(model.embed_parts([], ${quoted(name)}).fused[0], among=30_000)` : `explain(model, ${JSON.stringify(lines, null, 4)}, ${quoted(name)}, among=30_000${form})`);
    const command = shell("alc", "embed", ...model.options, "--word", name, "--among", "30000", ...(by === "spelling" ? [] : lines.flatMap((line) => ["--context", line])), ...(by === "both" ? ["--form"] : []), ...(by === "spelling" ? [] : ["--explain"]));
    const chart = answered.nearest?.length ? likeness(answered.nearest, `The words most like ${name}, with 95 percent intervals`) : null;
    result.replaceChildren(...[
      by === "spelling" ? element("p", { class: "hint" }, "How sure a spelling is cannot be known.") : sure(answered.confidence, `of what many sentences would tell, from ${answered.contexts}`),
      chart ? chart.place : element("p", { class: "hint" }, "One more sentence, and the nearest words appear with how sure each is."),
      by === "spelling" || answered.nearest?.some(isKnown) ? null : element("p", { class: "hint" }, "Grey: so few sentences cannot tell how alike. More of them sharpen it."),
      tools({ rows: answered.nearest ?? answered.words, name, python, command, pictures: chart ? [chart.picture] : [] }),
    ].filter(Boolean));
  }

  for (const input of [word, text, way]) input.addEventListener("input", answer);
  main.replaceChildren(heading,
    element("p", { class: "lede" }, "Make up a word and use it in a sentence. What it could mean appears beside it, with how sure one can be. Shaded words are the ones it comes from."),
    element("div", { class: "two" },
      element("div", {}, element("label", { for: "target" }, "The word"), word,
        element("h2", {}, element("label", { for: "sentences" }, "Sentences, one a line")), text,
        element("h2", {}, "What each word adds"), shaded,
        element("div", { class: "slider" }, element("label", { for: "by", class: "spelling" }, "spelling"), way, element("span", { class: "context", "aria-hidden": "true" }, "sentences")), told, learn),
      element("div", {}, element("h2", {}, "Nearest words"), result)),
    there.keeps ? noteForm() : "");
  await answer();
}
