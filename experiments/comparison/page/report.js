"use strict";
(() => {
  const numbers = JSON.parse(document.getElementById("numbers").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawn = [];  // the Chart objects on the page
  let printing = false;

  const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const theme = () => ({
    paper: themed("--paper"), ink: themed("--ink"), softInk: themed("--soft-ink"),
    rule: themed("--rule"), fullCell: themed("--full-cell"),
    series: (colour) => mixed(colour, themed("--ink"), themed("--lift")),
  });
  const family = () => getComputedStyle(document.body).fontFamily;
  const pixelRatio = () => Math.max(2, window.devicePixelRatio || 1);

  const figure = (value) => value === null ? "" : String(Number(value.toPrecision(4)));
  // Names differ at their ends: the middle goes.
  const fitted = (text, length) => text.length <= length ? text :
    text.slice(0, Math.ceil(length / 2)) + "…" + text.slice(text.length - Math.floor(length / 2));

  // ---- Charts with axes ----

  const translucent = (colour) => colour + "33";
  // What helps a series but is not it: no legend entry, no tooltip.
  const helper = (series, name, rest) => ({
    label: name, series: series, isHelper: true, pointRadius: 0, pointHitRadius: 0,
    borderWidth: 0, fill: false, ...rest,
  });

  function band(series, index) {
    const edge = (end) => series.x.map(
      (x, i) => ({x: x, y: series.estimates[i].known ? series.estimates[i][end] : null}))
      .filter((point) => point.y !== null);
    if (edge("low").length < 2) return [];
    return [
      helper(index, series.name, {data: edge("low")}),
      helper(index, series.name,
             {data: edge("high"), fill: "-1", backgroundColor: translucent(series.colour)}),
    ];
  }

  // Lines from low to high with a cap at either end, as one dataset with gaps.
  function whiskers(series, index, lyingDown) {
    const data = [];
    series.estimates.forEach((estimate, i) => {
      if (!estimate.known) return;
      for (const end of [estimate.low, estimate.high])
        data.push(lyingDown ? {x: end, y: series.x[i]} : {x: series.x[i], y: end});
      data.push({x: NaN, y: NaN});
    });
    return helper(index, series.name, {
      data: data, borderColor: series.colour, borderWidth: 2, pointStyle: "line",
      pointRotation: lyingDown ? 90 : 0, pointRadius: 6, pointBorderWidth: 2,
    });
  }

  function estimatesOf(series, index, rest) {
    return {
      label: series.name, series: index, estimates: series.estimates,
      borderColor: series.colour, backgroundColor: series.colour,
      borderWidth: 2.5, pointStyle: series.marker, pointRadius: 5, pointHoverRadius: 7,
      pointBorderWidth: series.marker === "crossRot" ? 2.5 : 1, fill: false, ...rest,
    };
  }

  function lineDatasets(series, index) {
    const every = 1 + Math.floor(series.x.length / 12);
    return [
      estimatesOf(series, index, {
        data: series.x.map((x, i) => ({x: x, y: series.estimates[i].value})),
        pointRadius: series.x.map((_, i) => i % every === 0 || i + 1 === series.x.length ? 5 : 0),
      }),
      ...band(series, index),
    ];
  }

  function pointDatasets(series, index) {
    const data = series.x.map((x, i) => ({x: x, y: series.estimates[i].value}));
    return [estimatesOf(series, index, {data: data, pointRadius: 6}),
            whiskers(series, index, false)];
  }

  // The single runs lie below the whisker, so that neither hides the other.
  function rowDatasets(series, index) {
    const row = series.x[0];
    return [
      estimatesOf(series, index, {
        data: [{x: series.estimates[0].value, y: row}], pointRadius: 8, pointHoverRadius: 9,
      }),
      whiskers(series, index, true),
      helper(index, series.name, {
        data: series.singles.map((single) => ({x: single, y: row + 0.27})), showLine: false,
        pointRadius: 4, backgroundColor: series.colour + "99", borderColor: series.colour + "99",
      }),
    ];
  }

  const datasetsOf = {lines: lineDatasets, points: pointDatasets, rows: rowDatasets};

  function scale(axis, colours, isRows) {
    const labels = new Map(axis.ticks.map((tick) => [tick.value, tick.label]));
    return {
      type: axis.logarithmic ? "logarithmic" : "linear", min: axis.low, max: axis.high,
      reverse: isRows,
      title: {display: axis.title !== "", text: axis.title, color: colours.softInk},
      grid: {color: colours.rule, borderColor: colours.softInk, drawTicks: false},
      afterBuildTicks: (built) => {
        built.ticks = axis.ticks.map((tick) => ({value: tick.value, major: false}));
      },
      ticks: {
        color: colours.ink, padding: 8, autoSkip: !isRows, maxRotation: 0,
        callback: function (value) {
          const label = labels.get(value) ?? "";
          return isRows ? fitted(label, Math.max(10, Math.floor(this.chart.width / 24))) : label;
        },
      },
    };
  }

  function tooltipLine(item) {
    const estimate = item.dataset.estimates[item.dataIndex];
    const interval = estimate.known ?
      ` [${figure(estimate.low)}, ${figure(estimate.high)}]` : " (one seed)";
    return `${item.dataset.label}: ${figure(estimate.value)}${interval}`;
  }

  // A series is hidden with its band and whiskers.
  function toggleSeries(event, item, legend) {
    const chart = legend.chart;
    const series = chart.data.datasets[item.datasetIndex].series;
    const shown = !chart.isDatasetVisible(item.datasetIndex);
    chart.data.datasets.forEach((dataset, i) => {
      if (dataset.series === series) chart.setDatasetVisibility(i, shown);
    });
    chart.update();
  }

  function drawChart(canvas, chart) {
    const colours = theme();
    const isRows = chart.kind === "rows";
    const series = chart.series.map((one) => ({...one, colour: colours.series(one.colour)}));
    if (isRows) canvas.parentElement.style.height = `${5 + 3.6 * chart.series.length}rem`;
    drawn.push(new Chart(canvas, {
      type: "line",
      data: {datasets: series.flatMap(datasetsOf[chart.kind])},
      options: {
        animation: false, responsive: !printing, maintainAspectRatio: false,
        devicePixelRatio: pixelRatio(), color: colours.ink, font: {family: family()},
        interaction: {mode: "nearest", axis: isRows ? "xy" : "x", intersect: isRows},
        scales: {x: scale(chart.x, colours, false), y: scale(chart.y, colours, isRows)},
        plugins: {
          legend: {
            display: !isRows, align: "start", onClick: toggleSeries,
            labels: {
              color: colours.ink, usePointStyle: true, boxWidth: 7, boxHeight: 7, padding: 14,
              filter: (item, data) => !data.datasets[item.datasetIndex].isHelper,
            },
          },
          tooltip: {
            filter: (item) => !item.dataset.isHelper,
            callbacks: {
              title: (items) => isRows || items.length === 0 ? "" :
                `${figure(items[0].parsed.x)} ${chart.x.title}`,
              label: tooltipLine,
            },
          },
        },
      },
    }));
  }

  // ---- Matrices ----

  const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  function mixed(from, to, share) {
    const [a, b] = [channels(from), channels(to)];
    return "#" + a.map((channel, i) => Math.round(channel + share * (b[i] - channel))
      .toString(16).padStart(2, "0")).join("");
  }
  function heat(share) {
    const colours = numbers.heat_colours;
    const place = share * (colours.length - 1);
    const below = Math.min(Math.floor(place), colours.length - 2);
    return mixed(colours[below], colours[below + 1], place - below);
  }
  // Rare confusions are what one looks for: the root lifts them out of the paper.
  const cellColour = (chart, colours) => (value) => {
    const share = Math.min(1, Math.max(0, value / chart.matrix.high));
    return chart.kind === "heat_map" ? heat(share) :
      mixed(colours.paper, colours.fullCell, Math.sqrt(share));
  };
  const isPale = (colour) => {
    const [red, green, blue] = channels(colour);
    return 0.3 * red + 0.59 * green + 0.11 * blue > 140;
  };

  const matrixWidth = 420;  // CSS pixels that a matrix is laid out in; the page scales it

  function matrixLayout(chart) {
    const left = 56, top = 6, right = 8, below = 86;
    const cell = (matrixWidth - left - right) / Math.max(chart.matrix.cols, 1);
    return {
      left: left, top: top, cell: cell, width: cell * chart.matrix.cols,
      height: cell * chart.matrix.rows, rows: Math.ceil(top + cell * chart.matrix.rows + below),
    };
  }

  function fillCells(pen, chart, layout, colourOf) {
    const {rows, cols, values} = chart.matrix;
    const cell = layout.cell;
    const written = chart.kind === "confusion" && cell >= 24;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let row = 0; row < rows; ++row)
      for (let col = 0; col < cols; ++col) {
        const value = values[row * cols + col] ?? 0;
        const colour = colourOf(value);
        const x = layout.left + col * cell, y = layout.top + row * cell;
        pen.fillStyle = colour;
        pen.fillRect(x, y, cell + 0.5, cell + 0.5);  // no seams between cells
        if (!written || value < 0.05) continue;
        pen.fillStyle = isPale(colour) ? "#111111" : "#ffffff";
        pen.font = `${Math.min(12, cell / 3)}px ${family()}`;
        pen.fillText(value.toFixed(1), x + cell / 2, y + cell / 2);
      }
  }

  function labelMatrix(pen, chart, layout, colours) {
    const bottom = layout.top + layout.height;
    const down = (y, label) => {
      pen.textAlign = "right";
      pen.fillText(fitted(label, 6), layout.left - 6, layout.top + y * layout.cell);
    };
    const across = (x, label) => {
      pen.textAlign = "center";
      pen.fillText(fitted(label, 6), layout.left + x * layout.cell, bottom + 12);
    };
    pen.font = `12px ${family()}`;
    pen.fillStyle = colours.ink;
    if (layout.cell >= 13)
      chart.matrix.names.forEach((name, i) => { down(i + 0.5, name); across(i + 0.5, name); });
    for (const tick of chart.y.ticks) down(tick.value, tick.label);
    for (const tick of chart.x.ticks) across(tick.value, tick.label);
    pen.fillStyle = colours.softInk;
    pen.textAlign = "center";
    pen.fillText(chart.x.title, layout.left + layout.width / 2, bottom + 32);
    pen.save();
    pen.translate(10, layout.top + layout.height / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(chart.y.title, 0, 0);
    pen.restore();
  }

  function colourBar(pen, chart, layout, colours, colourOf) {
    const y = layout.top + layout.height + 50;
    const unit = chart.kind === "confusion" ? " %" : " looks over the pixel";
    for (let x = 0; x < layout.width; ++x) {
      pen.fillStyle = colourOf(chart.matrix.high * x / layout.width);
      pen.fillRect(layout.left + x, y, 1.5, 9);
    }
    pen.fillStyle = colours.softInk;
    pen.textAlign = "left";
    pen.fillText("0", layout.left, y + 21);
    pen.textAlign = "right";
    pen.fillText(figure(chart.matrix.high) + unit, layout.left + layout.width, y + 21);
  }

  function drawMatrix(canvas, chart) {
    const layout = matrixLayout(chart), colours = theme(), ratio = pixelRatio();
    canvas.width = matrixWidth * ratio;
    canvas.height = layout.rows * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const colourOf = cellColour(chart, colours);
    fillCells(pen, chart, layout, colourOf);
    pen.strokeStyle = colours.softInk;
    pen.lineWidth = 1;
    pen.strokeRect(layout.left, layout.top, layout.width, layout.height);
    labelMatrix(pen, chart, layout, colours);
    colourBar(pen, chart, layout, colours, colourOf);
  }

  // ---- Numbers as tables, made when they are asked for ----

  function tableOf(rows) {
    const table = document.createElement("table");
    rows.forEach((cells, i) => {
      const row = table.insertRow();
      for (const cell of cells) {
        const element = document.createElement(i === 0 ? "th" : "td");
        element.textContent = typeof cell === "number" || cell === null ? figure(cell) : cell;
        row.append(element);
      }
    });
    const wide = document.createElement("div");
    wide.className = "wide";
    wide.append(table);
    return wide;
  }

  function tableRows(chart) {
    if (chart.matrix) {
      const {rows, cols, values, names} = chart.matrix;
      const name = (i) => names[i] ?? String(i);
      const header = [`${chart.y.title} \\ ${chart.x.title}`,
                      ...Array.from({length: cols}, (_, col) => name(col))];
      return [header, ...Array.from({length: rows}, (_, row) =>
        [name(row), ...values.slice(row * cols, (row + 1) * cols)])];
    }
    const isRows = chart.kind === "rows";
    const header = isRows ? ["", chart.x.title, "low", "high", "single runs"] :
      ["", chart.x.title, chart.y.title, "low", "high"];
    return [header, ...chart.series.flatMap((series) => series.estimates.map((estimate, i) => {
      const ends = estimate.known ? [estimate.low, estimate.high] : ["–", "–"];
      return isRows ? [series.name, estimate.value, ...ends, series.singles.map(figure).join(", ")] :
        [series.name, series.x[i], estimate.value, ...ends];
    }))];
  }

  // ---- The page ----

  function draw() {
    while (drawn.length > 0) drawn.pop().destroy();
    for (const chart of numbers.charts) {
      const canvas = document.getElementById(chart.id).querySelector("canvas");
      if (chart.matrix) drawMatrix(canvas, chart);
      else drawChart(canvas, chart);
    }
  }

  for (const chart of numbers.charts) {
    const details = document.getElementById(chart.id).querySelector("details");
    details.addEventListener("toggle", () => details.append(tableOf(tableRows(chart))), {once: true});
  }
  dark.addEventListener("change", () => { if (!printing) draw(); });

  // Paper is white and has its own width: charts are drawn for it and scaled by the style.
  addEventListener("beforeprint", () => {
    printing = true;
    document.documentElement.dataset.printing = "";
    draw();
    for (const chart of drawn) {
      const isRows = chart.options.scales.y.reverse;
      chart.resize(isRows ? 860 : 480, isRows ? chart.canvas.parentElement.offsetHeight : 320);
    }
  });
  addEventListener("afterprint", () => {
    printing = false;
    delete document.documentElement.dataset.printing;
    draw();
  });

  draw();
})();
