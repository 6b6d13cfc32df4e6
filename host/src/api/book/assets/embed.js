// Shows booking pages of this service on other sites. A plain link becomes one:
//   <a href="https://…/book/acme/intro" data-switchboard="inline">Book a call</a>     in its place
//   <a href="https://…/book/acme/intro" data-switchboard="popup">Book a call</a>      in a dialog when it is clicked
//   <a href="https://…/book/acme/intro" data-switchboard="button">Book a call</a>     the same, at the corner of the window
// with data-theme="light|dark|auto", data-color="#1257c4", data-lang, data-duration (minutes), data-name, data-email, data-answers-{key}.
// The element gets the events switchboard:ready, :resize, :slot, :booked and :close, with `detail`. It stays a link where a page cannot be shown.
"use strict";
(() => {
  if (window.Switchboard) return;

  const CLOSE = { en: "Close", de: "Schließen", es: "Cerrar", fr: "Fermer", ja: "閉じる", ar: "إغلاق" };
  const TYPES = ["ready", "resize", "slot", "booked", "close"];
  const MAX_HEIGHT = 20_000;
  const frames = new Set();
  let dialog;

  // The colours of the site: dark where it says that it is dark for this visitor.
  const themeOf = (element, wanted) => {
    if (wanted === "light" || wanted === "dark") return wanted;
    const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
    if (wanted === "auto") return prefersDark ? "dark" : "light";
    const schemes = getComputedStyle(element).colorScheme.split(" ");
    if (!schemes.includes("dark")) return "light";
    return prefersDark || !schemes.includes("light") ? "dark" : "light";
  };

  const optionsOf = (link) => {
    const { theme, color, lang, duration, name, email } = link.dataset;
    const answers = {};
    for (const { name: attribute, value } of link.attributes) {
      if (attribute.startsWith("data-answers-")) answers[attribute.slice("data-answers-".length)] = value;
    }
    return { theme, color, lang, duration, name, email, answers, title: link.textContent.trim() };
  };

  const languageOf = ({ lang }) => (lang || document.documentElement.lang || "en").split("-")[0];

  // A frame with the page of a link; `element` gets its events. It has no height until the page in it says that it is there.
  const frameOf = (element, address, options) => {
    const url = new URL(address, document.baseURI);
    if (!/^https?:$/.test(url.protocol)) throw new TypeError(`not the address of a booking page: ${address}`);
    const theme = themeOf(element, options.theme);
    const query = { embed: 1, theme, lang: options.lang, d: options.duration, color: options.color?.replace(/^#/, "") };
    for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
    const frame = document.createElement("iframe");
    frame.src = url.href;
    frame.title = options.title || "Switchboard";
    Object.assign(frame.style, { display: "block", width: "100%", height: "0", border: "0", visibility: "hidden", colorScheme: theme });
    frames.add({ frame, element, options, origin: url.origin });
    return frame;
  };

  const forget = (frame) => {
    for (const entry of frames) if (entry.frame === frame) frames.delete(entry);
    frame.remove();
  };

  addEventListener("message", ({ data, source, origin }) => {
    if (data?.source !== "switchboard" || data.v !== 1 || !TYPES.includes(data.type)) return;
    for (const entry of frames) {
      // A site that changes its pages by script takes frames away without a word.
      if (entry.isSeen && !entry.frame.isConnected) frames.delete(entry);
      if (entry.frame.contentWindow !== source || entry.origin !== origin) continue;
      entry.isSeen = true;
      const { source: _, v, type, ...detail } = data;
      const { frame, element, options } = entry;
      if (type === "ready") {
        const { name, email, answers } = options;
        source.postMessage({ source: "switchboard", v: 1, type: "hello", fill: { name, email, answers } }, origin);
        frame.style.visibility = "visible";
        options.onReady?.();
      }
      if (type === "resize" && detail.height > 0) frame.style.height = `${Math.min(detail.height, MAX_HEIGHT)}px`;
      if (type === "slot" && !dialog?.contains(frame)) frame.scrollIntoView({ block: "nearest" });
      if (type === "close" && dialog?.contains(frame)) close();
      element.dispatchEvent(new CustomEvent(`switchboard:${type}`, { bubbles: true, detail }));
    }
  });

  const close = () => dialog?.close();

  // The page in a dialog. Browsers give the focus back to where it was.
  const open = (url, options = {}, element = document.documentElement) => {
    close();
    const mine = (dialog = document.createElement("dialog"));
    const instead = document.createElement("a");
    Object.assign(instead, { href: url, target: "_blank", rel: "noopener", textContent: options.title || url });
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "×", ariaLabel: CLOSE[languageOf(options)] || CLOSE.en });
    Object.assign(button.style, { display: "block", marginInlineStart: "auto", minWidth: "48px", minHeight: "48px", font: "1.5rem system-ui", background: "none", border: "0", color: "inherit", cursor: "pointer" });
    button.addEventListener("click", close);
    const frame = frameOf(element, url, { ...options, onReady: () => { instead.style.display = "none"; } });
    frame.style.maxHeight = "calc(90vh - 80px)";
    const isDark = frame.style.colorScheme === "dark";
    Object.assign(mine.style, { width: "min(64rem, 100vw - 16px)", maxHeight: "90vh", boxSizing: "border-box", padding: "8px", border: "0", borderRadius: "8px", overflow: "auto", colorScheme: frame.style.colorScheme, background: isDark ? "#161a20" : "#fff", color: isDark ? "#eceff3" : "#12161c" });
    mine.setAttribute("aria-label", frame.title);
    mine.append(button, instead, frame);
    mine.addEventListener("click", ({ target, clientX, clientY }) => {
      const { left, right, top, bottom } = mine.getBoundingClientRect();
      const isInside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
      // Its edge belongs to it: what is typed is not lost by a click there.
      if (target === mine && !isInside) mine.close();
    });
    mine.addEventListener("close", () => {
      forget(frame);
      mine.remove();
      if (dialog === mine) dialog = undefined;
    });
    document.body.append(mine);
    mine.showModal();
  };

  // The page at the end of an element.
  const inline = (element, url, options = {}) => {
    const frame = frameOf(element, url, options);
    element.append(frame);
    return frame;
  };

  const luminance = (color) => {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const part = parseInt(color.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const toCorner = (link) => {
    const given = `#${(link.dataset.color || "").replace(/^#/, "")}`;
    const color = /^#[0-9a-f]{6}$/i.test(given) ? given : "#1257c4";
    Object.assign(link.style, { position: "fixed", insetBlockEnd: "16px", insetInlineEnd: "16px", zIndex: "2147483000", display: "flex", alignItems: "center", minHeight: "48px", minWidth: "48px", padding: "0 20px", boxSizing: "border-box", borderRadius: "24px", font: "600 1rem system-ui", textDecoration: "none", background: color, color: luminance(color) > 0.179 ? "#000" : "#fff" });
  };

  const setUp = (link) => {
    if (link.dataset.switchboardReady) return;
    link.dataset.switchboardReady = "yes";
    const kind = link.dataset.switchboard;
    if (kind === "inline") {
      const frame = frameOf(link, link.href, { ...optionsOf(link), onReady: () => { link.style.display = "none"; } });
      link.after(frame);
      return;
    }
    if (kind === "button") toCorner(link);
    link.addEventListener("click", (event) => {
      if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      open(link.href, optionsOf(link), link);
    });
  };
  const scan = (part = document) => part.querySelectorAll("a[data-switchboard]").forEach(setUp);

  window.Switchboard = Object.freeze({ open: (url, options) => open(url, options), inline, close, scan });
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => scan());
  else scan();
})();
