// Word: a word or phrase of a corpus, its lines, its likeness, over time, its senses, the lines that count most.

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
  tools,
  UNKNOWN,
  visit,
  whole,
} from "./common.js";
import { noteForm } from "./keeping.js";
import { exampleLinks, modelOf, noCorpus, sliceForm } from "./slices.js";
import { likeness } from "./charts.js";
import { lineList, LineTable } from "./lines.js";
import { time } from "./time.js";

export async function word(main) {
  const there = await about();
  if (!there.corpora.length) {
    noCorpus(main);
    return;
  }
  const given = state(),
    model = await modelOf();
  const phrase = element("input", {
    id: "phrase",
    type: "search",
    value: given.get("phrase") ?? "",
    autocomplete: "off",
    "data-search": true,
  });
  const form = await sliceForm(
    "",
    given.get("corpus"),
    given.getAll("where"),
    element("div", { class: "first" }, element("label", { for: "phrase" }, "Word or phrase"), phrase),
  );
  const heading = element("h1", {}),
    lede = element("p", { class: "lede" }),
    examples = element("div", {}),
    shown = element("div", {}),
    near = element("div", { "aria-live": "polite" });
  const columns = form.chosen.columns.map((column) => column.name),
    table = new LineTable(columns, form.corpus);
  const over = element("div", {}),
    further = element("div", {});

  const asked = () => ({ corpus: form.corpus(), phrase: phrase.value.trim(), where: form.where() });
  table.onSort = (order) => remember({ sort: order });

  function answer(push = true) {
    const values = asked(),
      before = state();
    if (push)
      go("/word", {
        ...values,
        sort: before.get("sort"),
        show: before.getAll("show"),
        over: before.get("over"),
        model: before.get("model"),
      });
    entitle(values.phrase, "Word");
    table.clear();
    over.replaceChildren();
    further.replaceChildren();
    shown.hidden = !values.phrase;
    examples.replaceChildren();
    return current(
      near,
      async (signal) => {
        near.replaceChildren();
        if (!values.phrase) {
          heading.replaceChildren("Which word or phrase?");
          lede.textContent = `${counted(form.chosen.documents, "document")}, ${counted(form.chosen.tokens, "word")}. Type one above and press Enter; * is any letters, as in immigr*.`;
          const link = (each) => [each, addressOf("/word", { ...values, phrase: each })];
          examples.replaceChildren(exampleLinks(form.chosen.examples.map(link)));
          return;
        }
        heading.replaceChildren(element("em", {}, values.phrase));
        lede.textContent = "…";
        const lines = table.show(values, state().get("sort") ?? "");
        const answered = await ask("/api/word", { ...values, model: model.name }, false, signal);
        lede.textContent = `${counted(answered.uses, "use")}; the ${values.where.length ? "slice" : "corpus"} has ${counted(answered.documents, "document")}.`;
        near.replaceChildren(...nearest(answered, values));
        await lines;
        signal.throwIfAborted();
        overTime(values, answered);
        further.replaceChildren(...more(values));
      },
      (error) => {
        lede.textContent = "";
        table.clear();
        shown.hidden = true;
        say(examples, error);
      },
    );
  }

  function nearest(answered, values) {
    const python = script(
      model,
      values.phrase,
      [
        `corpus = ${sliced(form.chosen.path, values.where)}`,
        "induced = corpus.induce(model, target)",
        `print(induced.uncertainty.nearest(${quoted(values.phrase)}, among=30_000))`,
        "print(corpus.lines(target))",
      ],
      { names: ["Concordance"] },
    );
    const command = [
      shell(
        "alc",
        "concordance",
        "nearest",
        form.chosen.path,
        ...named(values.phrase),
        "--among",
        "30000",
        ...conditions("--where", values.where),
        ...model.options,
      ),
      shell(
        "alc",
        "concordance",
        "lines",
        form.chosen.path,
        ...named(values.phrase),
        ...conditions("--where", values.where),
      ),
    ].join("\n");
    if (!answered.nearest.length)
      return [
        element("p", { class: "hint" }, answered.reason),
        tools({ rows: null, name: values.phrase, python, command }),
      ];
    const chart = likeness(
      answered.nearest,
      `The words most like ${values.phrase} here, with 95 percent intervals`,
      (other) => addressOf("/word", { ...values, phrase: other }),
    );
    return [
      sure(answered.confidence, "of what endless text of this kind would tell"),
      chart.place,
      answered.nearest.every(isKnown) ? "" : element("p", { class: "hint" }, `Grey: how alike is ${UNKNOWN}.`),
      tools({ rows: answered.nearest, name: values.phrase, python, command, pictures: [chart.picture] }),
    ];
  }

  function overTime(values, answered) {
    if (!columns.length) return;
    const now = state(),
      others = now.getAll("with").length ? now.getAll("with") : answered.nearest.slice(0, 4).map((item) => item.other);
    over.replaceChildren(
      element("h2", {}, "Over time"),
      time([{ form, values, name: "" }], others, now.get("over"), model),
    );
  }

  function more(values) {
    const parts = [
      element("h2", {}, "The lines that count most"),
      longQuestion({
        label: "Show the lines that made this vector",
        name: "influence",
        path: "/api/influence",
        values: () => ({ ...values, limit: 30, model: model.name }),
        show: showInfluence(values),
      }),
    ];
    if (!values.phrase.includes("*")) {
      parts.push(
        element("h2", {}, "Senses"),
        longQuestion({
          label: "Look for several senses",
          name: "senses",
          path: "/api/senses",
          values: () => ({ ...values, model: model.name }),
          show: showSenses(values),
        }),
      );
    }
    return parts;
  }

  const showInfluence = (values) => (answered, place) => {
    const corpus = `corpus = ${sliced(form.chosen.path, values.where)}`;
    const asked = [corpus, "print(corpus.influence(model, target, limit=30))"];
    place.replaceChildren(
      element("p", { class: "hint" }, "Shaded by how much of the vector each line makes."),
      lineList(answered.lines, table.names(), form.corpus, "Lines that count most"),
      tools({
        rows: answered.lines.map(flat),
        name: `${values.phrase} lines`,
        python: script(model, values.phrase, asked, { names: ["Concordance"] }),
        command: shell(
          "alc",
          "concordance",
          "influence",
          form.chosen.path,
          ...named(values.phrase),
          "--limit",
          "30",
          ...conditions("--where", values.where),
          ...model.options,
        ),
      }),
    );
  };

  const showSenses = (values) => (answered, place) => {
    const count = answered.senses.length;
    place.replaceChildren(
      element(
        "p",
        { class: "lede" },
        count === 1
          ? `One sense: ${answered.contexts === 1 ? "one use does" : `the ${whole(answered.contexts)} uses do`} not fall into groups.`
          : `${count} senses, from ${counted(answered.contexts, "use")}.`,
      ),
      element(
        "div",
        { class: "senses" },
        answered.senses.map((sense, number) =>
          element(
            "section",
            { class: `sense sense-${number}` },
            element(
              "h3",
              {},
              `${percent(sense.share)}: ${sense.nearest
                .slice(0, 5)
                .map((item) => item.word)
                .join(", ")}`,
            ),
            element(
              "ul",
              {},
              sense.examples.map((example) => element("li", {}, marked(example))),
            ),
          ),
        ),
      ),
      count > 1
        ? element(
            "details",
            {},
            element("summary", {}, "Lines, in the colours of their senses"),
            element(
              "ul",
              { class: "sense-lines" },
              answered.lines
                .slice(0, 200)
                .map((item) => element("li", { class: `sense-${item.sense}` }, marked(item.line))),
            ),
          )
        : "",
      tools({
        rows: answered.senses.map((sense) => ({
          name: sense.name,
          share: sense.share,
          contexts: sense.contexts,
          nearest: sense.nearest.map((item) => item.word).join(" "),
        })),
        name: `${values.phrase} senses`,
        python: script(
          model,
          null,
          [
            `corpus = ${sliced(form.chosen.path, values.where)}`,
            `print(induce_senses(model, corpus.holding(${quoted(values.phrase)}), ${quoted(values.phrase)}))`,
          ],
          { names: ["Concordance", "induce_senses"] },
        ),
        command: shell(
          "alc",
          "senses",
          "induce",
          ...named(values.phrase),
          "--corpus",
          form.chosen.path,
          ...conditions("--where", values.where),
          ...model.options,
        ),
      }),
    );
  };

  const search = element(
    "form",
    {
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        answer();
      },
    },
    form.place,
    element("button", { type: "submit", class: "plain" }, "Ask"),
  );
  search.addEventListener("change", (event) => {
    if (event.target.id === "corpus")
      visit(addressOf("/word", { corpus: form.corpus(), phrase: phrase.value.trim(), model: given.get("model") }));
    else if (event.target.tagName === "SELECT") answer();
  });
  shown.append(
    element("h2", {}, "The lines behind it"),
    table.place,
    element(
      "div",
      { class: "two" },
      element("div", { class: "answer" }, element("h2", {}, "Nearest words"), near),
      over,
    ),
    further,
  );
  main.replaceChildren(search, heading, lede, examples, shown, there.keeps ? noteForm() : "");
  await answer(false);
}

// "a **word** here": what stands between the marks is the word itself.
export function marked(text) {
  return text.split("**").map((part, place) => (place % 2 ? element("b", {}, part) : part));
}
