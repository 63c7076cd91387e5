// Runs in a page before everything else. Once the page stands it opens every table, goes to print
// and back, and puts what it saw in the place of the page.
(() => {
  const errors = [];
  for (const kind of ["error", "warn"])
    console[kind] = (...words) => errors.push(kind + ": " + words.join(" "));
  addEventListener("error", (event) =>
    errors.push(event.message || "not loaded: " + event.target.tagName), true);
  addEventListener("unhandledrejection", (event) => errors.push("rejected: " + event.reason));
  document.addEventListener("securitypolicyviolation", (event) =>
    errors.push("policy: " + event.violatedDirective + " " + event.blockedURI));

  // A drawing as pixels: how many are painted, and in how many colours.
  async function painted(svg) {
    const copy = svg.cloneNode(true);
    for (const input of copy.querySelectorAll("foreignObject")) input.remove();
    const style = document.createElementNS(svg.namespaceURI, "style");
    style.textContent = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      .map((rule) => rule.cssText).join("\n");
    copy.prepend(style);
    const {width, height} = svg.getBoundingClientRect();
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const image = new Image();
    image.src = "data:image/svg+xml," +
      encodeURIComponent(new XMLSerializer().serializeToString(copy));
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return {pixels: pixels.reduce((sum, pixel) => sum + (pixel !== 0), 0),
            colours: new Set(pixels).size};
  }

  // The words and the marks that reach over the edge of their drawing.
  function cutOff(svg) {
    const edge = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text, circle, polygon, polyline")].filter((shape) => {
      const box = shape.getBoundingClientRect();
      return box.left < edge.left - 1 || box.right > edge.right + 1 ||
             box.top < edge.top - 1 || box.bottom > edge.bottom + 1;
    }).map((shape) => shape.textContent || shape.outerHTML);
  }

  // By how much the tables of figures are wider than what is shown of them, and the columns that
  // each says of its figures where it stands as blocks.
  const figures = () => [...document.querySelectorAll("table.figures")].map((table) => ({
    hidden: table.parentElement.scrollWidth - table.parentElement.clientWidth,
    header: getComputedStyle(table.tHead).display !== "none",
    titled: [...table.querySelectorAll("td")].filter((cell) =>
      getComputedStyle(cell, "::before").content.includes(cell.dataset.title)).length,
  }));

  // Whether a swatch stands beside the first line of its label.
  const swatches = () => [...document.querySelectorAll(".figures .swatch")].map((swatch) => {
    const range = document.createRange();
    range.selectNodeContents(swatch.parentElement);
    const text = [...range.getClientRects()].find((box) => box.width > swatch.offsetWidth + 1);
    const box = swatch.getBoundingClientRect();
    return text && box.top >= text.top && box.bottom <= text.bottom && box.right <= text.left + 1 ?
      "beside" : "apart";
  });

  const shown = () => [...document.querySelectorAll("figure[id] svg")]
    .filter((svg) => svg.getBoundingClientRect().width > 0);

  async function drawn() {
    const all = [];
    for (const svg of shown()) {
      const words = svg.querySelector("text.ink");
      all.push({
        id: svg.closest("figure").id, cutOff: cutOff(svg), ...await painted(svg),
        text: svg.querySelector("[role=img]")?.getAttribute("aria-label") ?? "",
        ink: words ? getComputedStyle(words).fill : "",
      });
    }
    return all;
  }

  // What is under the pointer in the middle of the last spot of each drawing that has some.
  const pointedAt = () => shown().filter((svg) => svg.querySelector(".spot")).map((svg) => {
    const spot = [...svg.querySelectorAll(".spot")].at(-1);
    spot.scrollIntoView({block: "center", inline: "center"});
    const box = spot.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return {id: svg.closest("figure").id, text: top?.querySelector("title")?.textContent ?? ""};
  });

  // How many shapes of a series are to be seen before its switch is used, after, and after again.
  const switched = () => shown().flatMap((svg) => [...svg.querySelectorAll("input")].map((input) => {
    const count = () => [...svg.querySelectorAll(".of-" + input.className)]
      .filter((shape) => getComputedStyle(shape).display !== "none").length;
    const before = count();
    input.click();
    const after = count();
    input.click();
    return {id: svg.closest("figure").id, before: before, after: after, again: count()};
  }));

  // Lets what is said for paper hold, and what is said for screens not.
  const medias = new Map();
  function forPaper(on) {
    for (const sheet of document.styleSheets)
      for (const rule of [...sheet.cssRules].filter((one) => one.media)) {
        if (!medias.has(rule)) medias.set(rule, rule.media.mediaText);
        const media = medias.get(rule);
        rule.media.mediaText = on ?
          media.replace(/\bprint\b/, "all").replace(/\bscreen\b/, "speech") : media;
      }
  }
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
  const paper = () => getComputedStyle(document.body).backgroundColor;

  async function look(seen) {
    await pause();
    const page = document.documentElement;
    seen.drawn = await drawn();
    seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    seen.paper = paper();
    seen.overflow = page.scrollWidth - page.clientWidth;
    seen.figures = figures();
    seen.swatches = swatches();
    for (const details of document.querySelectorAll("details")) details.open = true;
    await pause();
    seen.tables = [...document.querySelectorAll("figure[id] table")].map((table) =>
      ({id: table.closest("figure").id, rows: table.rows.length}));
    seen.pointedAt = pointedAt();
    seen.switched = switched();
    forPaper(true);
    seen.printed = await drawn();
    seen.printedPaper = paper();
    forPaper(false);
    seen.again = await drawn();
    seen.recordings = [...document.querySelectorAll(".recording img, .recording video")]
      .filter((one) => one.getBoundingClientRect().width > 0).length;
    // What a player has below the frame: its controls are about 4 lines high.
    seen.roomBelow = [...document.querySelectorAll(".recording[style] video")]
      .filter((one) => one.getBoundingClientRect().width > 0).map((one) => {
        const style = getComputedStyle(one), box = one.getBoundingClientRect();
        const [rows, cols] = ["--rows", "--cols"].map((name) => style.getPropertyValue(name));
        return style.objectPosition === "50% 0%" ? box.height - box.width * rows / cols : 0;
      });
    seen.images = [...document.images].map((image) => image.naturalWidth);
    seen.requests = performance.getEntriesByType("resource").map((entry) => entry.name)
      .filter((name) => !name.startsWith("data:"));
    seen.hostile = window.hostile === undefined ? "" : String(window.hostile);
  }

  addEventListener("load", async () => {
    const seen = {errors: errors};
    await look(seen).catch((error) => errors.push("probe: " + error));
    const text = JSON.stringify(seen).replace(/[<>&]/g, (letter) =>
      "\\u00" + letter.charCodeAt(0).toString(16));
    document.documentElement.innerHTML = "";
    document.body.textContent = "SEEN" + text + "SEEN";
  });
})();
