// The administration panel with scripts. Links and forms lead to the same addresses as without: this fetches the pages that links lead to and puts
// them in place, copies, ticks the scopes of a preset, and keeps a form from being sent twice.
"use strict";
(() => {
  const script = document.currentScript.src;
  const root = new URL("../../", script);
  // A page of the version that this script is of loads it, too.
  const own = `script[src$="${script.slice(root.href.length)}"]`;

  // What screen readers hear after a change that does not move the focus to it.
  const status = document.createElement("p");
  status.className = "sr";
  status.setAttribute("role", "status");
  document.body.append(status);
  const announce = (text) => { status.textContent = text; };

  const focusOn = (element) => {
    if (!element) return;
    if (!element.matches("a, button, input, select, textarea")) element.tabIndex = -1;
    element.focus();
  };
  const withoutHash = (url) => String(url).split("#")[0];

  // ---- pages in place

  const load = async (url, signal) => {
    const response = await fetch(url, { signal, headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    // Something between the service and the browser answered, another version did, or the session is over.
    if (!page.querySelector(own) || page.body.className !== document.body.className) throw new Error("not a page of this frame");
    return { url: withoutHash(response.url), page };
  };

  let loading;
  let shown = withoutHash(location.href);
  const open = async (url, { keepsHistory = false } = {}) => {
    loading?.abort();
    const mine = (loading = new AbortController());
    const main = document.querySelector("main");
    main.setAttribute("aria-busy", "true");
    const bar = document.createElement("div");
    bar.className = "bar";
    const slow = setTimeout(() => document.body.append(bar), 150);
    let loaded;
    try {
      loaded = await load(withoutHash(url), mine.signal);
    } catch {
      if (!mine.signal.aborted) location.assign(url);
      return;
    } finally {
      clearTimeout(slow);
      bar.remove();
    }
    if (mine !== loading || mine.signal.aborted) return;
    if (!keepsHistory && loaded.url !== shown) history.pushState(null, "", loaded.url);
    shown = withoutHash(location.href);
    document.title = loaded.page.title;
    // The menu says where the reader is, and the drawings are those that the page uses.
    for (const part of [".sprite", ".side", "main"]) {
      const [old, fresh] = [document.querySelector(part), loaded.page.querySelector(part)];
      if (old && fresh) old.replaceWith(fresh);
    }
    scrollTo(0, 0);
    enhance();
    focusOn(document.querySelector("main [role=alert]") || document.querySelector("main h1"));
  };

  const isOurs = (url) => url.origin === root.origin && url.pathname.startsWith(root.pathname);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const isPlain = !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download") || link.getAttribute("href").startsWith("#")) return;
    if (!isOurs(link) || !document.body.classList.contains("panel")) return;
    event.preventDefault();
    open(link.href);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method === "get") {
      if (!isOurs(new URL(form.action)) || !document.body.classList.contains("panel")) return;
      event.preventDefault();
      const url = new URL(form.action);
      url.search = new URLSearchParams(new FormData(form));
      open(url);
    } else if (form.dataset.sent) {
      // It is on its way: a second click sends nothing.
      event.preventDefault();
    } else {
      form.dataset.sent = "yes";
      // Where no answer comes it can be sent again: a form acts once.
      setTimeout(() => delete form.dataset.sent, 15_000);
    }
  });
  addEventListener("pageshow", () => {
    for (const form of document.forms) delete form.dataset.sent;
  });
  addEventListener("popstate", () => {
    if (withoutHash(location.href) !== shown) open(location.href, { keepsHistory: true });
  });

  // ---- copying

  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-copied]");
    if (!button) return;
    const text = button.parentElement.querySelector("pre").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Not allowed, as on plain http: the text is selected, to be copied by the keyboard.
      getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
      return;
    }
    announce(button.dataset.copied);
    const label = button.querySelector("span");
    const before = label.textContent;
    label.textContent = button.dataset.copied;
    setTimeout(() => { label.textContent = before; }, 2_000);
  });

  // ---- presets of scopes

  document.addEventListener("change", (event) => {
    const preset = event.target.closest?.("input[name=preset]");
    if (!preset || preset.dataset.scopes === undefined) return;
    const wanted = preset.dataset.scopes.split(" ");
    for (const box of preset.form.querySelectorAll("input[name=scope]")) box.checked = wanted.includes(box.value);
  });
  document.addEventListener("change", (event) => {
    const box = event.target.closest?.("input[name=scope]");
    const chosen = box && box.form.querySelector("input[name=preset][value=own]");
    if (chosen) chosen.checked = true;
  });

  // ---- lists that are watched

  const MAX_ROWS = 200;
  // Refused openings in a row after which a list is over: a server or a proxy that starts again answers soon.
  const MAX_REFUSED = 3;
  const liveList = (bar) => {
    const [button, state] = [bar.querySelector("button"), bar.querySelector("span")];
    let source, last, timer, again, news = 0, refused = 0, isPaused = false, isOver = false;
    const say = (name) => {
      state.hidden = false;
      state.textContent = state.dataset[name];
      button.hidden = isOver;
      button.textContent = isPaused ? button.dataset.resume : button.dataset.pause;
    };
    const close = () => {
      source?.close();
      source = undefined;
    };
    // The session or the right is over, or there are too many lists.
    const over = () => {
      isOver = true;
      close();
      say("ended");
    };
    const add = ({ data, lastEventId }) => {
      last = lastEventId;
      const rows = document.querySelector("main .rows tbody");
      if (!rows) return void open(location.href, { keepsHistory: true });
      news -= rows.children.length;
      rows.insertAdjacentHTML("afterbegin", data);
      news += rows.children.length;
      while (rows.children.length > MAX_ROWS) rows.lastElementChild.remove();
      timer ??= setTimeout(() => {
        announce(bar.dataset.news.replace("{n}", news));
        [news, timer] = [0, undefined];
      }, 10_000);
    };
    // A page that is not visible catches up later.
    const look = () => {
      if (document.hidden || isPaused) close();
      if (source || document.hidden || isPaused || isOver) return;
      const url = new URL(bar.dataset.live, location.href);
      if (last) url.searchParams.set("after", last);
      source = new EventSource(url);
      source.onopen = () => {
        refused = 0;
        say("on");
      };
      source.onerror = () => {
        // A connection that breaks is made again by the browser.
        if (source?.readyState !== EventSource.CLOSED) return;
        close();
        refused += 1;
        if (refused > MAX_REFUSED) over();
        else again = setTimeout(look, refused * 5_000);
      };
      source.addEventListener("over", over);
      source.addEventListener("rows", add);
    };
    button.addEventListener("click", () => {
      isPaused = !isPaused;
      say(isPaused ? "paused" : "on");
      look();
    });
    look();
    return { bar, look, end: () => { close(); clearTimeout(timer); clearTimeout(again); } };
  };
  let watched;
  document.addEventListener("visibilitychange", () => watched?.look());

  const enhance = () => {
    const bar = document.querySelector("main div[data-live]");
    if (watched?.bar !== bar) {
      watched?.end();
      watched = bar && liveList(bar);
    }
    for (const button of document.querySelectorAll("button[data-copied]")) button.hidden = false;
    // A step that waits for something that happens elsewhere is read again while it is visible.
    clearTimeout(enhance.again);
    const seconds = Number(document.querySelector("main [data-again]")?.dataset.again);
    if (seconds) {
      enhance.again = setTimeout(() => {
        const isIdle = document.visibilityState === "visible" && !document.activeElement?.matches("input, textarea, select");
        if (isIdle) refresh();
        else enhance();
      }, seconds * 1_000);
    }
  };
  // The part that waits, alone: nothing moves, and the focus stays where it is.
  const refresh = async () => {
    const url = shown;
    try {
      const { page, url: found } = await load(url);
      const [old, fresh] = [document.querySelector("main [data-again]"), page.querySelector("main [data-again]")];
      if (shown !== url || found !== url || !old) return;
      if (!fresh) return void open(url);
      if (old.dataset.state !== fresh.dataset.state) {
        old.replaceWith(fresh);
        announce(fresh.dataset.state);
      }
    } catch {
      // The next try may succeed.
    }
    enhance();
  };
  enhance();
  focusOn(document.querySelector("main [role=alert]"));
})();
