// Corpora: what there is, sending texts, building from them, stopping and going on.

import { about, ask, counted, element, forgetAbout, go, say, state, whole } from "./common.js";

export async function corpora(main) {
  const there = await about(),
    list = element("div", { "aria-live": "polite" }),
    wrong = element("div", {}),
    sent = element("p", { class: "hint", role: "status" });
  const chosen = new Set();
  const post = (path, values) => async () => {
    try {
      wrong.replaceChildren();
      await ask(path, values, true);
      forgetAbout();
      await refresh();
    } catch (error) {
      again(error);
    }
  };
  const again = (error) => {
    // a server that is away is asked again until it is back
    say(wrong, error.away ? new Error("The server does not answer; trying again …") : error);
    if (error.away)
      timer = setTimeout(() => {
        if (list.isConnected) refresh().then(() => wrong.replaceChildren(), again);
      }, 1000);
  };
  const button = (label, name, act) =>
    element("button", { type: "button", class: "plain", "aria-label": name, onclick: act }, label);
  const size = (bytes) =>
    bytes < 1e6
      ? `${Math.ceil(bytes / 1e3)} kB`
      : bytes < 1e9
        ? `${(bytes / 1e6).toFixed(1)} MB`
        : `${(bytes / 1e9).toFixed(2)} GB`;

  const file = element("input", { id: "file", type: "file", multiple: true });
  file.addEventListener("change", async () => {
    for (const each of file.files) {
      try {
        wrong.replaceChildren();
        await send(each);
        chosen.add(each.name);
      } catch (error) {
        say(wrong, error);
      }
    }
    file.value = "";
    await refresh().catch(again);
  });

  const send = (each) =>
    new Promise((done, fail) => {
      const request = new XMLHttpRequest();
      request.open("POST", `/api/upload?name=${encodeURIComponent(each.name)}`);
      request.upload.addEventListener("progress", (event) => {
        sent.textContent = `${each.name}: ${size(event.loaded)} of ${size(event.total)}`;
      });
      request.addEventListener("load", () => {
        sent.textContent = "";
        if (request.status === 200) {
          done();
          return;
        }
        let said = `The server did not take ${each.name} (status ${request.status})`;
        try {
          said = JSON.parse(request.responseText).error;
        } catch {
          /* a proxy's answer */
        }
        fail(new Error(said));
      });
      request.addEventListener("error", () =>
        fail(new Error(`${each.name} could not be sent; is the server running?`)),
      );
      request.send(each);
    });

  const name = element("input", { id: "name", autocomplete: "off", required: true, "data-search": true }),
    text = element("input", { id: "text", placeholder: "text", autocomplete: "off" }),
    columns = element("input", { id: "columns", placeholder: "date, party", autocomplete: "off" });
  const build = element(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        const kept = columns.value
          .split(",")
          .map((part) => part.trim())
          .filter(Boolean);
        await post("/api/build", {
          name: name.value.trim(),
          texts: [...chosen],
          text: text.value.trim(),
          columns: kept,
        })();
      },
    },
    element(
      "div",
      { class: "asks" },
      element("div", {}, element("label", { for: "name" }, "Name of the corpus"), name),
      element("div", {}, element("label", { for: "text" }, "Field or column with the text (JSON, CSV, Parquet)"), text),
      element("div", {}, element("label", { for: "columns" }, "Fields or columns to keep, with commas"), columns),
    ),
    element("button", { type: "submit", class: "plain" }, "Build"),
  );

  let timer = null;
  async function refresh() {
    clearTimeout(timer);
    if (!list.isConnected && list.childNodes.length) return;
    const now = await ask("/api/corpora"),
      parts = [];
    const described = new Map((await about()).corpora.map((item) => [item.name, item]));
    const damaged = (await about()).damaged;
    if (now.corpora.some((item) => !described.has(item.name) && !damaged[item.name])) forgetAbout();
    parts.push(
      element("h2", {}, "Corpora"),
      element(
        "ul",
        { class: "things" },
        now.corpora.map((item) => {
          const more = described.get(item.name);
          const link = element("a", { href: `/word?corpus=${encodeURIComponent(item.name)}` }, item.name);
          const forget = () => {
            const sure = confirm(`Delete the corpus ${item.name}? Its texts stay.`);
            if (sure) post("/api/corpus/delete", { name: item.name })();
          };
          const size_ = more ? ` ${counted(more.documents, "document")}, ${counted(more.tokens, "word")} ` : " ";
          const wrong_ = damaged[item.name] ? element("span", { class: "wrong" }, damaged[item.name], " ") : "";
          const away = item.ours ? button("Delete", `Delete ${item.name}`, forget) : "";
          return element("li", {}, link, size_, wrong_, away);
        }),
      ),
    );
    if (now.builds.length) {
      parts.push(
        element("h2", {}, "Being built"),
        element(
          "ul",
          { class: "things" },
          now.builds.map((item) =>
            element(
              "li",
              {},
              element("b", {}, item.name),
              " ",
              item.state === "building"
                ? [
                    element(
                      "progress",
                      item.total
                        ? { max: item.total, value: item.done, "aria-label": item.name }
                        : { "aria-label": item.name },
                    ),
                    " ",
                    button("Stop", `Stop ${item.name}`, post("/api/build/cancel", { name: item.name })),
                  ]
                : [
                    element(
                      "span",
                      { class: item.state === "failed" ? "wrong" : "hint" },
                      `${item.state}${item.message ? `: ${item.message}` : ""} `,
                    ),
                    button("Go on", `Go on with ${item.name}`, post("/api/build/resume", { name: item.name })),
                    " ",
                    button("Delete", `Delete ${item.name}`, post("/api/corpus/delete", { name: item.name })),
                  ],
            ),
          ),
        ),
      );
    }
    if (now.folder) {
      parts.push(
        element("h2", {}, "Texts"),
        now.texts.length
          ? element(
              "ul",
              { class: "things" },
              now.texts.map((item) => {
                const box = element("input", {
                  type: "checkbox",
                  id: `text-${item.name}`,
                  checked: chosen.has(item.name),
                  onchange: () => {
                    if (box.checked) chosen.add(item.name);
                    else chosen.delete(item.name);
                  },
                });
                return element(
                  "li",
                  {},
                  box,
                  " ",
                  element("label", { for: box.id, class: "inline" }, item.name),
                  ` ${size(item.bytes)} `,
                  button("Delete", `Delete ${item.name}`, () => {
                    if (confirm(`Delete the text ${item.name}?`)) {
                      chosen.delete(item.name);
                      post("/api/text/delete", { name: item.name })();
                    }
                  }),
                );
              }),
            )
          : element("p", { class: "hint" }, "None yet."),
        element(
          "p",
          { class: "hint" },
          "Send files, or put them into ",
          element("code", {}, now.folder),
          ". Plain text (a document a line), JSON lines, CSV, Parquet; compressed ones too.",
        ),
      );
    }
    list.replaceChildren(...parts);
    if (now.builds.some((item) => item.state === "building"))
      timer = setTimeout(() => {
        if (list.isConnected) refresh().catch(again);
      }, 400);
  }

  const models = element(
    "select",
    { id: "model" },
    there.models.map((item) =>
      element("option", { value: item.name, selected: item.name === state().get("model") }, item.name),
    ),
  );
  models.addEventListener("change", () =>
    go("/corpora", { model: models.value === there.models[0].name ? "" : models.value }),
  );
  main.replaceChildren(
    element("h1", {}, "Which texts?"),
    element(
      "p",
      { class: "lede" },
      "A corpus is text that was read once and can be questioned from then on. Nothing leaves this machine.",
    ),
    wrong,
    element(
      "div",
      { class: "two" },
      list,
      element(
        "div",
        {},
        ...(there.keeps
          ? [
              element("h2", {}, element("label", { for: "file" }, "Send texts")),
              file,
              sent,
              element("h2", {}, "Build a corpus from the chosen texts"),
              build,
            ]
          : []),
        element("h2", {}, element("label", { for: "model" }, "Model")),
        models,
        element(
          "p",
          { class: "hint" },
          `${whole(there.vectors.words)} words, ${there.vectors.dimensions} dimensions. Corpora are built for the vectors of the first one.`,
        ),
      ),
    ),
  );
  await refresh().catch(again);
}
