// Compare: a word on two sides, or all words at once.

import {
  about,
  addressOf,
  ask,
  chance,
  conditions,
  counted,
  current,
  element,
  entitle,
  exampleLinks,
  examplesOf,
  go,
  isKnown,
  longQuestion,
  modelOf,
  named,
  noCorpus,
  noteForm,
  number,
  quoted,
  say,
  script,
  shell,
  sliced,
  sliceForm,
  state,
  tools,
  UNKNOWN,
  visit,
  whole,
} from "./common.js";
import { pairs, volcano } from "./charts.js";
import { LineTable } from "./lines.js";
import { time } from "./time.js";
import { marked } from "./word.js";

export async function compare(main) {
  const there = await about();
  if (!there.corpora.length) {
    noCorpus(main);
    return;
  }
  const given = state(),
    model = await modelOf();
  const one = await sliceForm("a", given.get("corpus"), given.getAll("where")),
    two = await sliceForm("b", given.get("other") ?? given.get("corpus"), given.getAll("other_where"));
  const phrase = element("input", {
    id: "phrase",
    type: "search",
    value: given.get("phrase") ?? "",
    autocomplete: "off",
    "data-search": true,
  });
  const heading = element("h1", {}),
    lede = element("p", { class: "lede" }),
    shown = element("div", { "aria-live": "polite" }),
    everything = element("div", {}),
    further = element("div", {});
  const behind = element("h2", {}, "The lines behind it"),
    examples = element("div", {});
  const tables = [one, two].map(
    (side) =>
      new LineTable(
        side.chosen.columns.map((column) => column.name),
        side.corpus,
      ),
  );
  const names = () =>
    shortened(
      [one, two].map(
        (side) =>
          [one.corpus() !== two.corpus() ? side.corpus() : "", ...side.where()].filter(Boolean).join(", ") || "all",
      ),
    );
  const sides = () => ({
    corpus: one.corpus(),
    where: one.where(),
    other: two.corpus(),
    other_where: two.where(),
    model: given.get("model"),
  });
  const address = (word) => addressOf("/compare", { ...sides(), phrase: word });
  const both = () => [
    ...conditions("--where", one.where()),
    ...(two.corpus() !== one.corpus() ? ["--other", two.chosen.path] : []),
    ...conditions("--other-where", two.where()),
    ...model.options,
  ];
  const python = (word, lines, names, imports = []) =>
    script(
      model,
      word,
      [`a = ${sliced(one.chosen.path, one.where())}`, `b = ${sliced(two.chosen.path, two.where())}`, ...lines],
      { names: ["Concordance", ...names], imports },
    );

  let asked = "";

  function answer(push = true) {
    const word = phrase.value.trim(),
      [a, b] = names(),
      before = state(),
      same = asked === JSON.stringify(sides());
    if (push)
      go("/compare", {
        ...sides(),
        phrase: word,
        over: before.get("over"),
        show: before.getAll("show"),
        all: same ? before.get("all") : "",
      });
    if (!same) everything.replaceChildren(element("h2", {}, "All words at once"), all());
    asked = JSON.stringify(sides());
    entitle(word && `${word}: ${a} and ${b}`, "Compare");
    further.replaceChildren();
    tables.forEach((table) => table.clear());
    behind.hidden = !word;
    examples.replaceChildren();
    return current(
      shown,
      async (signal) => {
        shown.replaceChildren();
        if (!word) {
          heading.replaceChildren("Who uses which word how?");
          lede.textContent = "Choose two groups, periods or corpora. Ask about one word, or about all words at once.";
          const example = await examplesOf(one.chosen);
          if (!signal.aborted && example.sides)
            examples.replaceChildren(
              exampleLinks(
                example.words.slice(0, 3).map((each) => [
                  `${each}: ${shortened(example.sides).join(" and ")}`,
                  addressOf("/compare", {
                    corpus: one.corpus(),
                    where: example.sides[0],
                    other_where: example.sides[1],
                    phrase: each,
                  }),
                ]),
              ),
            );
          return;
        }
        heading.replaceChildren(element("em", {}, word), `: ${a} and ${b}`);
        lede.textContent = "…";
        const answered = await ask("/api/compare", { ...sides(), phrase: word }, false, signal),
          now = state();
        lede.textContent = verdict(answered, a, b);
        shown.replaceChildren(...drawn(answered, word, a, b));
        if (one.chosen.columns.length && two.chosen.columns.length) {
          const others = now.getAll("with").length
            ? now.getAll("with")
            : answered.words.slice(0, 4).map((item) => item.word);
          const parts = [one, two].map((side, which) => ({
            form: side,
            name: [a, b][which],
            values: { corpus: side.corpus(), phrase: word, where: side.where() },
          }));
          further.replaceChildren(element("h2", {}, "Over time"), time(parts, others, now.get("over"), model));
        }
        [one, two].forEach((side, place) =>
          tables[place].show({ corpus: side.corpus(), phrase: word, where: side.where() }),
        );
      },
      (error) => {
        lede.textContent = "";
        behind.hidden = true;
        say(shown, error);
      },
    );
  }

  function drawn(answered, word, a, b) {
    const known = [answered.words.some((item) => item.a), answered.words.some((item) => item.b)],
      clear = knownSides(answered.difference.reason).map((sure, side) => sure && known[side]);
    const chart = pairs(
      answered.words,
      [a, b],
      `How like other words ${word} is on either side, with 95 percent intervals`,
      address,
      clear,
    );
    const grey =
      clear.includes(false) || answered.words.some((item) => [item.a, item.b].some((side) => side && !isKnown(side)));
    const list = JSON.stringify(answered.words.map((item) => item.word)),
      measured = ["a", "b"].filter((_, side) => known[side]);
    const commands = [
      shell("alc", "concordance", "compare", one.chosen.path, ...named(word), ...both()),
      ...[one, two]
        .filter((_, side) => known[side])
        .map((side) =>
          shell(
            "alc",
            "concordance",
            "nearest",
            side.chosen.path,
            ...named(word),
            ...answered.words.flatMap((item) => ["--like", item.word]),
            ...conditions("--where", side.where()),
            ...model.options,
          ),
        ),
    ];
    const lines = [
      `induced = {"a": a.induce(model, target), "b": b.induce(model, target)}`,
      ...measured.map((side) => `print(induced["${side}"].uncertainty.similarities(${quoted(word)}, ${list}))`),
      `print(compare_uses(induced["a"], induced["b"], [${quoted(word)}]))`,
    ];
    return [
      answered.words.length ? chart.place : "",
      grey ? element("p", { class: "hint" }, `Grey: ${UNKNOWN}.`) : "",
      tools({
        rows: answered.words.map((item) => ({
          word: item.word,
          a: item.a?.estimate,
          a_low: item.a?.conf_low,
          a_high: item.a?.conf_high,
          b: item.b?.estimate,
          b_low: item.b?.conf_low,
          b_high: item.b?.conf_high,
        })),
        name: word,
        python: python(word, lines, [], ["from alacarte.comparing.uses import compare_uses"]),
        command: commands.join("\n"),
        pictures: answered.words.length ? [chart.picture] : [],
      }),
      element(
        "details",
        { class: "hint" },
        element("summary", {}, "How these numbers are computed"),
        element(
          "p",
          {},
          "The words are the nearest ones of either side. Likeness is the debiased cosine of this side's vector with each word; the intervals are 95 % jackknife intervals over documents. " +
            "In the view Word the same word may be a little lower: there, words were chosen because this very vector lies nearest to them, and what the choice alone adds is taken off. Here the words are the same on both sides, so nothing is.",
        ),
      ),
    ];
  }

  function verdict(answered, a, b) {
    const { difference } = answered,
      uses = `${counted(answered.sides[0].uses, "use")} and ${counted(answered.sides[1].uses, "use")}. `;
    if (difference.reason)
      return `${uses}Whether they differ is ${UNKNOWN}: ${difference.reason.replace(/\bin ([ab])\b/g, (_, side) => `of ${side === "a" ? a : b}`)}.`;
    const apart = `They lie ${number(difference.distance)} apart (${number(difference.conf_low)} to ${number(difference.conf_high)}; 0 is the same use). `;
    return `${uses}${apart}${difference.p_value <= 0.05 ? "The two use it differently" : "No difference is certain"}: the chance of as much by accident is ${chance(difference.p_value)}.`;
  }

  const all = () =>
    longQuestion({
      label: "Compare all words",
      name: "all",
      path: "/api/differences",
      values: () => ({ ...sides(), least: 20 }),
      show: (answered, place) => {
        const [a, b] = names(),
          chart = volcano(answered.words, `All words: how far apart ${a} and ${b} are, and the confidence`, address);
        const tested = answered.words.filter((item) => item.q_value !== null).length;
        place.replaceChildren(
          element(
            "p",
            { class: "lede" },
            chart.changed.length
              ? `${whole(chart.changed.length)} of ${whole(tested)} words are used differently; of these, one in twenty may be by accident.`
              : `None of ${whole(tested)} words is used differently beyond chance.`,
          ),
          chart.place,
          element(
            "ol",
            { class: "changed" },
            chart.changed.slice(0, 30).map((item) => {
              const lines = answered.contexts[item.word];
              return element(
                "li",
                {},
                element("a", { href: address(item.word) }, item.word),
                element(
                  "span",
                  { class: "hint" },
                  ` ${number(item.distance)} apart (${number(item.conf_low)} to ${number(item.conf_high)})`,
                ),
                lines
                  ? element(
                      "details",
                      {},
                      element("summary", {}, "The lines that contribute most"),
                      element(
                        "div",
                        { class: "two" },
                        [lines.a, lines.b].map((side, which) =>
                          element(
                            "div",
                            {},
                            element("h3", { class: `label ${which ? "spelling" : "context"}` }, [a, b][which]),
                            element(
                              "ul",
                              {},
                              side.map((line) => element("li", {}, marked(bracketed(line)))),
                            ),
                          ),
                        ),
                      ),
                    )
                  : "",
              );
            }),
          ),
          tools({
            rows: answered.words,
            name: `${a} and ${b}`,
            python: python(null, ["print(compare(model, a, b, min_count=20))"], ["compare"]),
            command: shell("alc", "concordance", "compare", one.chosen.path, ...both()),
            pictures: [chart.picture],
          }),
        );
      },
    });
  const form = element(
    "form",
    {
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        answer();
      },
    },
    element(
      "div",
      { class: "two even" },
      [one, two].map((side, which) =>
        element(
          "fieldset",
          {},
          element("legend", { class: `label ${which ? "spelling" : "context"}` }, which ? "And here" : "Here"),
          side.place,
        ),
      ),
    ),
    element(
      "div",
      { class: "asks" },
      element(
        "div",
        { class: "first" },
        element("label", { for: "phrase" }, "Word or phrase; empty for all words"),
        phrase,
      ),
    ),
    element("button", { type: "submit", class: "plain" }, "Compare"),
  );
  form.addEventListener("change", (event) => {
    if (/^corpus-/.test(event.target.id)) visit(addressOf("/compare", { ...sides(), phrase: phrase.value.trim() }));
  });
  main.replaceChildren(
    form,
    heading,
    lede,
    examples,
    shown,
    behind,
    element(
      "div",
      { class: "two even" },
      tables.map((table) => element("div", {}, table.place)),
    ),
    further,
    everything,
    there.keeps ? noteForm() : "",
  );
  await answer(false);
}

// "party=D" and "party=R" are called D and R.
function shortened(names) {
  const parts = names.map((name) => /^([^=<>!,|]+=)([^=,]+)$/.exec(name));
  return parts.every(Boolean) && parts[0][1] === parts[1][1] ? parts.map((part) => part[2]) : names;
}

// Of which sides anything can be known, by the reason why a comparison cannot be made.
function knownSides(reason) {
  if (!reason) return [true, true];
  const named_ = [...reason.matchAll(/\bin ([ab])\b/g)].map((found) => found[1]);
  return ["a", "b"].map((side) => named_.length > 0 && !named_.includes(side));
}

// The command marks a word as [word], the page as **word**.
const bracketed = (line) => line.replace(/\[([^\]]*)\]/, "**$1**");
