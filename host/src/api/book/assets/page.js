// The booking page with scripts. Links and forms lead to the same addresses as without: this fetches what they lead to and puts it in place.
// It knows nothing of calendars, time zones and languages: the service does, and so does the browser.
"use strict";
(() => {
  const script = document.currentScript.src;
  const root = new URL("../../", script);
  // A page of the version that this script is of loads it, too.
  const own = `script[src$="${script.slice(root.href.length)}"]`;
  const html = document.documentElement;
  let main = document.querySelector("main");

  // What screen readers hear after a change that does not move the focus to it.
  const status = document.createElement("p");
  status.className = "sr";
  status.setAttribute("role", "status");
  document.body.append(status);
  const announce = (text) => { status.textContent = text; };

  const focusOn = (element) => {
    if (!element) return;
    if (/^H\d$/.test(element.tagName)) element.tabIndex = -1;
    element.focus();
  };
  const withoutHash = (url) => String(url).split("#")[0];

  // ---- pages in place

  const load = async (url, signal) => {
    const response = await fetch(url, { signal, headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const part = page.querySelector("main");
    // Something between the service and the browser answered, such as a proxy's own page; or another version did.
    if (!part || !page.querySelector(own)) throw new Error("not a page of this version");
    return { url: withoutHash(response.url), title: page.title, part };
  };

  // A page that was fetched because it is likely to be opened next: times change, so it is good for a short time.
  const MAX_AGE_MS = 10_000;
  let ahead;
  const isFresh = (url) => ahead?.url === url && performance.now() - ahead.at < MAX_AGE_MS;
  const prefetch = (url) => {
    if (isFresh(url)) return;
    ahead = { url, at: performance.now(), page: load(url) };
    ahead.page.catch(() => {});
  };
  const take = (url, signal) => {
    const page = isFresh(url) ? ahead.page : load(url, signal);
    ahead = undefined;
    return page;
  };

  // A page that is there soon needs no sign that it is on its way.
  const BAR_AFTER_MS = 150;
  let barTimer;
  const showBar = () => {
    if (main.querySelector(".bar")) return;
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.setAttribute("role", "progressbar");
    bar.setAttribute("aria-label", main.dataset.loading);
    main.prepend(bar);
  };
  const showBarSoon = () => {
    clearTimeout(barTimer);
    barTimer = setTimeout(showBar, BAR_AFTER_MS);
  };

  let loading;
  let shown = withoutHash(location.href);
  const open = async (url, { focus, keepsHistory = false } = {}) => {
    loading?.abort();
    const mine = (loading = new AbortController());
    main.setAttribute("aria-busy", "true");
    showBarSoon();
    let page;
    try {
      page = await take(withoutHash(url), mine.signal);
    } catch {
      if (!mine.signal.aborted) location.assign(url);
      return;
    }
    if (mine !== loading || mine.signal.aborted) return;
    clearTimeout(barTimer);
    if (!keepsHistory && page.url !== shown) history.pushState(null, "", page.url);
    shown = withoutHash(location.href);
    document.title = page.title;
    main.replaceWith(page.part);
    main = page.part;
    enhance();
    const target = focus?.(main);
    focusOn(target || main.querySelector("h1"));
    // A heading that gets the focus is read by itself.
    if (target && main.dataset.said) announce(main.dataset.said);
  };

  // Where the focus goes on the page that a link leads to: to the same control, or to what was asked for.
  const focusAfter = (link) => {
    const { keep } = link.dataset;
    if (link.hash === "#times") return (part) => part.querySelector("#times");
    if (link.rel) return (part) => part.querySelector(`a[rel="${link.rel}"]`) || part.querySelector("#month");
    if (keep) return (part) => part.querySelector(`[data-keep="${keep}"]`);
    return undefined;
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("main a[href]");
    const isPlain = !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.getAttribute("href").startsWith("#")) return;
    if (link.origin !== root.origin || !link.pathname.startsWith(root.pathname)) return;
    event.preventDefault();
    if (link.closest(".days")) choose(link);
    open(link.href, { focus: focusAfter(link) });
  });

  const likely = (event) => {
    const link = event.target.closest?.('main a[rel="next"], main a[rel="prev"]');
    if (link) prefetch(withoutHash(link.href));
  };
  document.addEventListener("pointerover", likely);
  document.addEventListener("focusin", likely);

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("method") === "get") {
      event.preventDefault();
      const url = new URL(location.href);
      url.search = new URLSearchParams(new FormData(form));
      open(url, { focus: (part) => part.querySelector(".zone [aria-invalid], .zone summary") });
    } else if (form.dataset.sent) {
      // It is on its way: a second click sends nothing.
      event.preventDefault();
    } else {
      form.dataset.sent = "yes";
      // Where no answer comes it can be sent again: a form books once.
      setTimeout(() => delete form.dataset.sent, 15_000);
      // Back leads to the times, not to one that is taken by then.
      const list = main.dataset.page === "details" && main.querySelector("a[href]");
      if (list) history.replaceState(null, "", list.href);
      shown = withoutHash(location.href);
    }
  });
  addEventListener("pageshow", () => {
    for (const form of document.forms) delete form.dataset.sent;
    // Who comes back finds the page as it was left, which may be on the way to another one.
    clearTimeout(barTimer);
    main.querySelector(".bar")?.remove();
    main.removeAttribute("aria-busy");
  });
  addEventListener("popstate", () => {
    // A step to an error's control on the same page is none to another page.
    if (withoutHash(location.href) !== shown) open(location.href, { keepsHistory: true });
  });

  // ---- days by keyboard

  const daysOf = (part) => [...part.querySelectorAll(".days a")];
  const rove = (link) => {
    for (const other of daysOf(main)) other.tabIndex = other === link ? 0 : -1;
  };
  // Shows the choice of a day at once, before its times are there.
  const choose = (link) => {
    for (const other of daysOf(main)) {
      const cell = other.closest("td");
      if (other === link) {
        other.setAttribute("aria-current", "true");
        cell.setAttribute("aria-selected", "true");
      } else {
        other.removeAttribute("aria-current");
        cell.removeAttribute("aria-selected");
      }
    }
  };
  const toMonth = (relation, pick) => {
    const link = main.querySelector(`a[rel="${relation}"]`);
    if (link) open(link.href, { focus: (part) => pick(daysOf(part)) || daysOf(part)[0] || part.querySelector("#month") });
  };
  const toYear = (step) => {
    const [year, month] = main.dataset.month.split("-");
    const url = new URL(location.href);
    url.searchParams.delete("day");
    url.searchParams.set("month", `${Number(year) + step}-${month}`);
    open(url, { focus: (part) => daysOf(part)[0] || part.querySelector("#month") });
  };
  const first = (links) => links[0];
  const last = (links) => links[links.length - 1];
  // The day of the same weekday in the nearest week that has one.
  const weekFrom = (link, step) => {
    const cell = link.closest("td");
    const rows = [...cell.closest("tbody").rows];
    for (let at = rows.indexOf(cell.parentNode) + step; rows[at]; at += step) {
      const found = rows[at].cells[cell.cellIndex]?.querySelector("a");
      if (found) return found;
    }
    return undefined;
  };
  const inColumn = (column) => (link) => link.closest("td").cellIndex === column;

  const moveFrom = (link, event) => {
    const links = daysOf(main);
    const at = links.indexOf(link);
    const row = [...link.closest("tr").querySelectorAll("a")];
    const column = link.closest("td").cellIndex;
    const isMirrored = html.dir === "rtl";
    const go = (found, relation, pick) => (found ? focusOn(found) : toMonth(relation, pick));
    switch (event.key) {
      case isMirrored ? "ArrowLeft" : "ArrowRight": return go(links[at + 1], "next", first);
      case isMirrored ? "ArrowRight" : "ArrowLeft": return go(links[at - 1], "prev", last);
      case "ArrowDown": return go(weekFrom(link, 1), "next", (days) => days.find(inColumn(column)));
      case "ArrowUp": return go(weekFrom(link, -1), "prev", (days) => last(days.filter(inColumn(column))));
      case "Home": return focusOn(first(row));
      case "End": return focusOn(last(row));
      case " ": return link.click();
      case "PageDown": return event.shiftKey ? toYear(1) : toMonth("next", first);
      case "PageUp": return event.shiftKey ? toYear(-1) : toMonth("prev", first);
      default: return false;
    }
  };
  document.addEventListener("keydown", (event) => {
    const link = event.target.closest?.(".days a");
    if (!link || event.altKey || event.ctrlKey || event.metaKey) return;
    if (moveFrom(link, event) !== false) event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    const link = event.target.closest?.(".days a");
    if (link) rove(link);
  });

  const enhanceDays = () => {
    const table = main.querySelector(".days");
    if (!table) return;
    table.setAttribute("role", "grid");
    for (const cell of table.querySelectorAll("td")) {
      cell.setAttribute("role", "gridcell");
      if (cell.querySelector("[aria-current]")) cell.setAttribute("aria-selected", "true");
    }
    rove(table.querySelector("a[aria-current]") || daysOf(main)[0]);
  };

  // ---- pictures of hosts

  // The initials below a picture are for one that cannot be loaded: one that is there may have holes.
  const settle = (picture, isThere) => (isThere ? picture.previousElementSibling : picture)?.remove();
  for (const type of ["load", "error"]) {
    // These events do not bubble.
    document.addEventListener(type, ({ target }) => {
      if (target.matches?.(".face img")) settle(target, type === "load");
    }, true);
  }
  // What ended before this script came.
  for (const picture of main.querySelectorAll(".face img")) {
    if (picture.complete) settle(picture, picture.naturalWidth > 0);
  }

  // ---- the search for a time zone

  const MAX_CHOICES = 50;
  const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").replace(/[_/]/g, " ").toLowerCase();
  const nameOf = (zone, style) => {
    try {
      const format = new Intl.DateTimeFormat(`${html.lang}-u-nu-latn`, { timeZone: zone, timeZoneName: style });
      return format.formatToParts().find((part) => part.type === "timeZoneName")?.value ?? "";
    } catch {
      return "";
    }
  };
  const timeIn = (timeZone) => {
    // A month without times has no switch between the clocks.
    const twelve = main.querySelector('[data-keep="hc-12"]');
    const isTwelve = twelve ? twelve.hasAttribute("aria-current") : new URL(location.href).searchParams.get("hc") === "12";
    const hourCycle = isTwelve ? "h12" : "h23";
    try {
      return new Intl.DateTimeFormat(`${html.lang}-u-nu-latn`, { timeZone, hourCycle, weekday: "short", hour: "numeric", minute: "2-digit" }).format();
    } catch {
      return "";
    }
  };
  const visitorsZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

  let zones;
  const allZones = (suggested) => {
    const names = new Set([visitorsZone(), main.dataset.shownZone, ...suggested, ...Intl.supportedValuesOf("timeZone")]);
    return [...names].filter(Boolean).map((name) => ({ name, text: fold(`${name} ${nameOf(name, "long")} ${nameOf(name, "short")}`) }));
  };
  const found = (typed) => {
    const words = fold(typed).split(/\s+/).filter(Boolean);
    const hits = zones.filter((zone) => words.every((word) => zone.text.includes(word)));
    const begins = (zone) => words.length > 0 && zone.text.split(" ").some((word) => word.startsWith(words[0]));
    return [...hits.filter(begins), ...hits.filter((zone) => !begins(zone))];
  };

  const enhanceZones = () => {
    const input = main.querySelector("#tz");
    if (!input || !Intl.supportedValuesOf) return;
    const box = input.closest("details");
    const suggested = [...box.querySelectorAll("datalist option")].map((option) => option.value);
    const shownFirst = input.value;
    const list = document.createElement("ul");
    Object.assign(list, { id: "zone-choices", className: "choices", hidden: true });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", input.labels[0].textContent.trim());
    input.removeAttribute("list");
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"]]) {
      input.setAttribute(name, value);
    }
    input.after(list);

    const mark = (choice) => {
      for (const other of list.children) other.setAttribute("aria-selected", String(other === choice));
      if (choice) input.setAttribute("aria-activedescendant", choice.id);
      else input.removeAttribute("aria-activedescendant");
      choice?.scrollIntoView({ block: "nearest" });
    };
    const marked = () => list.querySelector("[aria-selected=true]");
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      mark(null);
    };
    const show = () => {
      zones ??= allZones(suggested);
      const hits = found(input.value === shownFirst ? "" : input.value);
      list.replaceChildren(...hits.slice(0, MAX_CHOICES).map(({ name }, at) => {
        const choice = document.createElement("li");
        choice.id = `zone-${at}`;
        choice.dataset.name = name;
        choice.setAttribute("role", "option");
        choice.setAttribute("aria-selected", "false");
        const place = document.createElement("bdi");
        place.textContent = name.replace(/_/g, " ");
        const time = document.createElement("bdi");
        time.className = "num";
        time.textContent = timeIn(name);
        choice.append(place, " ", time);
        return choice;
      }));
      list.hidden = hits.length === 0;
      input.setAttribute("aria-expanded", String(hits.length > 0));
      mark(null);
      announce(hits.length > 0 ? `${box.dataset.found}: ${hits.length}` : box.dataset.none);
    };
    const accept = (choice) => {
      input.value = choice.dataset.name;
      close();
      input.form.requestSubmit();
    };

    input.addEventListener("input", show);
    input.addEventListener("focus", () => input.select());
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
      const choice = marked();
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (list.hidden) show();
        const isDown = event.key === "ArrowDown";
        const next = isDown ? choice?.nextElementSibling : choice?.previousElementSibling;
        mark(next || (isDown ? list.firstElementChild : list.lastElementChild));
      } else if (event.key === "Enter" && choice) {
        event.preventDefault();
        accept(choice);
      } else if (event.key === "Escape" && !list.hidden) {
        event.preventDefault();
        event.stopPropagation();
        close();
      }
    });
    // The field keeps the focus.
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => {
      const choice = event.target.closest("[role=option]");
      if (choice) accept(choice);
    });
    box.addEventListener("toggle", () => {
      if (box.open && !input.hasAttribute("aria-invalid")) input.focus();
    });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !box.open) return;
      event.preventDefault();
      box.open = false;
      focusOn(box.querySelector("summary"));
    });
  };

  // ---- in the frame of another site

  const isFramed = html.hasAttribute("data-embed") && window.parent !== window;
  // Each page waits for the site's word anew: a tab can have gone to another site meanwhile.
  let site;
  let filling = {};
  const waiting = new Map();

  // Tells the site that shows the frame, and nobody else. Of each kind the newest waits until it is known who that is.
  const tell = (type, facts = {}) => {
    if (!isFramed) return;
    const message = { source: "switchboard", v: 1, type, ...facts };
    if (site) window.parent.postMessage(message, site);
    else waiting.set(type, message);
  };

  // Fills in what the site knows of the visitor, where nothing is typed.
  const fillIn = () => {
    const fields = { name: filling.name, email: filling.email };
    for (const [key, value] of Object.entries(filling.answers ?? {})) fields[`q.${key}`] = value;
    const controls = [...main.querySelectorAll("[id]")];
    for (const [id, value] of Object.entries(fields)) {
      // Attributes have no capital letters; keys may.
      const isSame = (one) => one.id.toLowerCase() === id.toLowerCase();
      const control = document.getElementById(id) || controls.find(isSame);
      const isText = control?.matches("input:not([type=checkbox]):not([type=radio]), textarea, select");
      if (isText && typeof value === "string" && !control.value) control.value = value.slice(0, 2_000);
    }
  };

  const reportPage = () => {
    const { page, bookingId, status: state, start, end, timeZone } = main.dataset;
    if (page === "details") tell("slot", { start, end });
    if (page === "booked") tell("booked", { bookingId, status: state, start, end, timeZone });
    // Opened once more, a booking that was made or moved is no news.
    const url = new URL(location.href);
    const news = ["new", "moved"].filter((name) => url.searchParams.has(name));
    if (news.length === 0) return;
    for (const name of news) url.searchParams.delete(name);
    history.replaceState(null, "", url);
    shown = withoutHash(url);
  };

  if (isFramed) {
    addEventListener("message", (event) => {
      const { data } = event;
      if (event.source !== window.parent || data?.source !== "switchboard" || data.v !== 1 || data.type !== "hello") return;
      if (!/^https?:/.test(event.origin)) return;
      site = event.origin;
      for (const message of waiting.values()) window.parent.postMessage(message, site);
      waiting.clear();
      if (data.fill && typeof data.fill === "object") filling = data.fill;
      fillIn();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) tell("close");
    });
    new ResizeObserver(() => tell("resize", { height: Math.ceil(html.getBoundingClientRect().height) })).observe(html);
    // Says nothing but that a booking page is here: whoever shows it answers with who they are.
    window.parent.postMessage({ source: "switchboard", v: 1, type: "ready" }, "*");
  }

  // ---- the visitor's own zone and clock

  // The address of this page with them, once, where it names no zone; none where there is nothing to change.
  const withOwnZone = () => {
    const { page, zone, shownZone } = main.dataset;
    if (page !== "month") return undefined;
    const own = visitorsZone();
    const url = new URL(location.href);
    if (zone === "unknown" && url.searchParams.get("tz") === own) {
      // The browser knows a zone that the service does not know.
      url.searchParams.set("tz", shownZone);
      return url;
    }
    // Browsers that keep their place for themselves say UTC: the host's zone stays, and the page says whose it is.
    if (zone !== "none" || !own || /^(UTC|GMT|Etc\/.*)$/.test(own)) return undefined;
    const format = new Intl.DateTimeFormat(navigator.language, { hour: "numeric" }).resolvedOptions();
    const wantsTwelve = format.hour12 && navigator.language.split("-")[0] === html.lang.split("-")[0] && !url.searchParams.has("hc");
    if (own === shownZone && !wantsTwelve) return undefined;
    url.searchParams.set("tz", own);
    if (wantsTwelve) url.searchParams.set("hc", "12");
    return url;
  };

  const enhance = () => {
    enhanceDays();
    enhanceZones();
    fillIn();
    reportPage();
  };
  const better = withOwnZone();
  if (better) location.replace(better);
  else enhance();
})();
