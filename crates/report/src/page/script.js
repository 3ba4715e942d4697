"use strict";
// Zoom and search in the flame graphs. Without this the pictures are whole, and have their titles.
document.querySelectorAll(".flame").forEach(function (box) {
  const picture = box.querySelector(".picture");
  const holder = box.querySelector(".frames");
  const details = box.querySelector(".details");
  const whole = box.querySelector("button");
  const search = box.querySelector("input");
  const output = box.querySelector("output");
  const total = Number(holder.dataset.total);
  // Width of a character and space beside a text, in pixels.
  const CHARACTER = 7.25, MARGIN = 8;

  const frames = Array.from(holder.children).map(function (group) {
    const rect = group.querySelector("rect");
    const title = group.querySelector("title").textContent;
    return {
      group: group, rect: rect, text: group.querySelector("text"), title: title,
      name: title.replace(/ \([0-9,]+ ns, [0-9.]+%\)$/, ""),
      begin: Number(rect.dataset.x), width: Number(rect.dataset.w), y: Number(rect.getAttribute("y"))
    };
  });
  // What is shown: all, or one frame and what is above it.
  let view = { begin: 0, width: total, y: Infinity };

  function draw() {
    const pixels = picture.getBoundingClientRect().width;
    for (const frame of frames) {
      const begin = Math.max(frame.begin, view.begin);
      const end = Math.min(frame.begin + frame.width, view.begin + view.width);
      const seen = end > begin;
      frame.group.style.display = seen ? "" : "none";
      if (!seen) continue;
      const x = 100 * (begin - view.begin) / view.width;
      const width = 100 * (end - begin) / view.width;
      frame.rect.setAttribute("x", x + "%");
      frame.rect.setAttribute("width", width + "%");
      frame.text.setAttribute("x", x + "%");
      frame.text.setAttribute("dx", 4);
      const room = Math.floor((width / 100 * pixels - MARGIN) / CHARACTER);
      frame.text.textContent = room < 3 ? "" :
        frame.name.length > room ? frame.name.slice(0, room - 1) + "\u2026" : frame.name;
      frame.group.classList.toggle("outer", frame.y > view.y);
    }
    whole.hidden = view.width === total;
  }

  function find() {
    const wanted = search.value.trim().toLowerCase();
    let sum = 0, until = 0;
    // From left to right, the lower ones first: each stretch counts once.
    for (const frame of frames.slice().sort((a, b) => a.begin - b.begin || b.y - a.y)) {
      const found = wanted !== "" && frame.name.toLowerCase().includes(wanted);
      frame.group.classList.toggle("found", found);
      if (found) {
        const end = frame.begin + frame.width;
        sum += Math.max(0, end - Math.max(frame.begin, until));
        until = Math.max(until, end);
      }
    }
    output.textContent = wanted === "" ? "" : (100 * sum / total).toFixed(1) + " % of the time";
  }

  for (const frame of frames) {
    frame.group.addEventListener("click", function () {
      view = { begin: frame.begin, width: frame.width, y: frame.y };
      details.textContent = frame.title;
      draw();
    });
    frame.group.addEventListener("mouseenter", function () { details.textContent = frame.title; });
  }
  whole.addEventListener("click", function () {
    view = { begin: 0, width: total, y: Infinity };
    draw();
  });
  search.addEventListener("input", find);
  window.addEventListener("resize", draw);
  draw();
});
