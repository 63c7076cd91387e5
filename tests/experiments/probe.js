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

  const drawn = () => [...document.querySelectorAll("canvas")].map((canvas) => {
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const pixels = new Uint32Array(data.buffer);
    return {
      id: canvas.closest("figure").id, text: canvas.getAttribute("aria-label"),
      pixels: pixels.reduce((sum, pixel) => sum + (pixel !== 0), 0),
      colours: new Set(pixels).size,
    };
  });
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
  const paper = () => getComputedStyle(document.body).backgroundColor;

  async function look(seen) {
    await pause();
    const page = document.documentElement;
    seen.canvases = drawn();
    seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    seen.paper = paper();
    seen.overflow = page.scrollWidth - page.clientWidth;
    for (const details of document.querySelectorAll("details")) details.open = true;
    await pause();
    seen.tables = [...document.querySelectorAll("figure[id] table")].map((table) =>
      ({id: table.closest("figure").id, rows: table.rows.length}));
    dispatchEvent(new Event("beforeprint"));
    seen.printed = drawn();
    seen.printedPaper = paper();
    dispatchEvent(new Event("afterprint"));
    await pause();
    seen.again = drawn();
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
