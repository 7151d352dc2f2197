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
  tools,
} from "./common.js";
import { noteForm } from "./keeping.js";
import { modelOf } from "./slices.js";
import { likeness } from "./charts.js";

const EXAMPLE = [
  "They drank a bottle of fine french blorp with their meal.",
  "A glass of chilled blorp goes well with oysters and lemon.",
  "The vineyard sold its best blorp to restaurants in Paris.",
];
const WAYS = ["spelling", "both", "contexts"];
const IN_WORDS = {
  spelling: "from its spelling alone",
  both: "from its spelling and the sentences",
  contexts: "from the sentences alone",
};

export async function invent(main) {
  const given = state(),
    sentences = given.getAll("sentence"),
    there = await about(),
    model = await modelOf();
  const word = element("input", {
    id: "target",
    value: given.get("word") ?? "blorp",
    autocomplete: "off",
    spellcheck: "false",
    "data-search": true,
  });
  const text = element("textarea", { id: "sentences", spellcheck: "false" });
  text.value = (sentences.length ? sentences : EXAMPLE).join("\n");
  const way = element("input", {
    id: "by",
    type: "range",
    min: 0,
    max: 2,
    step: 1,
    value: Math.max(0, WAYS.indexOf(given.get("by") ?? "contexts")),
    "aria-valuetext": "contexts",
  });
  const told = element("p", { class: "hint", id: "by-hint", role: "status" }),
    learn = element("div", {});
  const heading = element("h1", {}),
    shaded = element("div", {}),
    wrong = element("div", {}),
    result = element("div", { "aria-live": "polite" });
  let asking = false,
    changed = false,
    shownName = "";

  // One question at a time: what is typed meanwhile is asked at once when the answer is there.
  async function answer() {
    changed = true;
    if (asking) return;
    asking = true;
    try {
      while (changed && heading.isConnected) {
        changed = false;
        await askNow();
      }
    } finally {
      asking = false;
    }
  }

  async function askNow() {
    const name = word.value.trim(),
      lines = text.value
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
      by = WAYS[way.value];
    const holds = lines.map(holding(name)),
      sent = lines.filter((_, place) => holds[place]);
    heading.replaceChildren("What could ", element("em", {}, name || "…"), " mean?");
    entitle(name, "Invent");
    way.setAttribute("aria-valuetext", by);
    told.textContent = `Now ${IN_WORDS[by]}. Drag to see each alone.`;
    goSoon("/invent", { word: name, sentence: lines, by: by === "contexts" ? "" : by, model: given.get("model") });
    if (!name || (!lines.length && by !== "spelling")) {
      shaded.replaceChildren();
      wrong.replaceChildren();
      shownName = "";
      result.replaceChildren(element("p", { class: "hint" }, name ? "Use the word in a sentence." : "Which word?"));
      return;
    }
    if (by !== "contexts" && !there.spelling) {
      offer();
      return;
    }
    learn.replaceChildren();
    if (!sent.length && by !== "spelling") {
      // what was known stays until a sentence holds the word
      shade(lines, holds, [], new Map(), name);
      if (shownName !== name)
        result.replaceChildren(element("p", { class: "hint" }, `None of the sentences has ${name} in it yet.`));
      return;
    }
    await current(
      result,
      async (signal) => {
        const answered = await ask(
          "/api/invent",
          { sentences: by === "spelling" ? [] : sent, word: name, by, model: model.name },
          true,
          signal,
        );
        wrong.replaceChildren();
        shade(lines, holds, answered.tokens, new Map(answered.words.map((item) => [item.word, item.share])), name);
        show(answered, name, sent, by);
        shownName = name;
      },
      (error) => say(wrong, error),
    );
  }

  function offer() {
    const bar = element("progress", { hidden: true, "aria-label": "learning" });
    const button = element(
      "button",
      {
        type: "button",
        class: "plain",
        onclick: async () => {
          button.disabled = true;
          bar.hidden = false;
          await current(
            learn,
            async (signal) => {
              await job("/api/spelling", { model: model.name }, () => {}, signal, true);
              there.spelling = true;
              await answer();
            },
            (error) => say(learn, error),
          );
        },
      },
      "Learn it",
    );
    learn.replaceChildren(
      element(
        "p",
        { class: "hint" },
        "What spelling says about meaning has to be learned from the vectors once, which takes about a minute. ",
      ),
      button,
      " ",
      bar,
    );
  }

  // The sentences, each word shaded by what it adds; those without the word wait for it.
  function shade(lines, holds, tokens, share, name) {
    const largest = Math.max(...share.values(), 1e-9),
      target = new Set(name.toLowerCase().split(/\s+/)),
      ready = [...tokens];
    shaded.replaceChildren(
      ...lines.map((line, place) => {
        const words = holds[place] ? ready.shift() : null;
        if (!words)
          return element(
            "p",
            { class: "sentence waiting" },
            line,
            element("span", { class: "hint" }, holds[place] ? "" : " waiting for the word"),
          );
        return element(
          "p",
          { class: "sentence" },
          words.flatMap((token) => {
            const part = share.get(token) ?? 0,
              shown = element(
                "span",
                target.has(token) ? { class: "target" } : { class: "share", title: percent(part) },
                token,
              );
            shown.style.setProperty("--s", Math.round((60 * Math.max(0, part)) / largest));
            return [shown, " "];
          }),
        );
      }),
    );
  }

  function show(answered, name, lines, by) {
    const opened = `${model.python}${by === "contexts" ? "" : ".with_form()"}`;
    const python =
      by === "spelling"
        ? script(
            model,
            null,
            [
              `for word, cosine in model.nearest(model.embed_parts([], ${quoted(name)}).fused[0], among=30_000):`,
              "    print(word, cosine)",
            ],
            { opened },
          )
        : script(
            model,
            null,
            [
              `sentences = ${JSON.stringify(lines, null, 4)}`,
              `explained = explain(model, sentences, ${quoted(name)}, among=30_000${by === "both" ? ", form=True" : ""})`,
              "print(explained)",
              "print(explained.nearest)",
            ],
            { names: ["explain"], opened },
          );
    const command = shell(
      "alc",
      "embed",
      ...model.options,
      "--word",
      name,
      "--among",
      "30000",
      ...(by === "spelling" ? [] : lines.flatMap((line) => ["--context", line])),
      ...(by === "both" ? ["--form"] : []),
      ...(by === "spelling" ? [] : ["--explain"]),
    );
    const chart = answered.nearest?.length
      ? likeness(
          answered.nearest,
          `The words most like ${name}, with 95 percent intervals`,
          there.corpora.length ? (other) => addressOf("/word", { phrase: other }) : undefined,
        )
      : null;
    result.replaceChildren(
      ...[
        by === "spelling"
          ? element("p", { class: "hint" }, "The confidence in a spelling cannot be known.")
          : sure(answered.confidence, `of what many sentences would give, from ${counted(answered.contexts, "use")}`),
        chart
          ? chart.place
          : element("p", { class: "hint" }, "One more sentence, and the nearest words appear, each with an interval."),
        by === "spelling" || answered.nearest?.some(isKnown)
          ? null
          : element("p", { class: "hint" }, "Grey: so few sentences cannot tell how alike. More of them sharpen it."),
        tools({
          rows: answered.nearest ?? answered.words,
          name,
          python,
          command,
          pictures: chart ? [chart.picture] : [],
        }),
      ].filter(Boolean),
    );
  }

  for (const input of [word, text, way]) input.addEventListener("input", answer);
  main.replaceChildren(
    heading,
    element(
      "p",
      { class: "lede" },
      "Make up a word and use it in a sentence. What it could mean appears beside it, with the confidence in it. Shaded words are the ones it comes from.",
    ),
    element(
      "div",
      { class: "two" },
      element(
        "div",
        {},
        element("label", { for: "target" }, "The word"),
        word,
        element("h2", {}, element("label", { for: "sentences" }, "Sentences, one a line")),
        text,
        wrong,
        element("h2", {}, "What each word adds"),
        shaded,
        element(
          "div",
          { class: "slider" },
          element("label", { for: "by", class: "spelling" }, "spelling"),
          way,
          element("span", { class: "context", "aria-hidden": "true" }, "sentences"),
        ),
        told,
        learn,
      ),
      element("div", {}, element("h2", {}, "Nearest words"), result),
    ),
    there.keeps ? noteForm() : "",
  );
  await answer();
}

// Whether a sentence has a word or phrase in it, as a word of its own.
function holding(name) {
  const words = name
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${words.join("\\s+")}(?![\\p{L}\\p{N}])`, "iu");
  return (line) => words.length > 0 && pattern.test(line);
}
