// Puts the comments of this page where the script stands:
//   <script src="https://HOST/embed.js" data-url="https://…" data-theme="auto"></script>
//
// The frame tells how high it is and is told which colours the page has. Messages count only from
// the frame itself and from the host of this script. `threadlineEmbed.signIn(token)` hands over the
// token of the page's own sign-in.
(() => {
  "use strict";
  const script = document.currentScript;
  const host = new URL(script.src).origin;
  const address = new URL("/embed", host);
  const canonical = document.querySelector("link[rel=canonical]")?.href;
  address.searchParams.set("url", script.dataset.url || canonical || location.origin + location.pathname);
  for (const name of ["mode", "order"]) {
    if (script.dataset[name]) address.searchParams.set(name, script.dataset[name].toUpperCase());
  }

  const frame = document.createElement("iframe");
  frame.src = address.href;
  frame.title = script.dataset.title || "Comments";
  frame.loading = script.dataset.loading || "lazy";
  frame.setAttribute("scrolling", "no");
  frame.style.cssText = "display:block;width:100%;height:320px;border:0;background:transparent";
  script.after(frame);

  let token = null;
  const send = (message) => frame.contentWindow?.postMessage({ threadline: 1, ...message }, host);

  function theme() {
    const named = script.dataset.theme || "auto";
    if (named === "light" || named === "dark") return named;
    const scheme = getComputedStyle(document.documentElement).colorScheme;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    if (scheme.includes("dark") && scheme.includes("light")) return dark ? "dark" : "light";
    return scheme.includes("dark") ? "dark" : "light";
  }

  // The frame's canvas is only see-through where the element has the scheme of what it shows.
  function painted() {
    const name = theme();
    frame.style.colorScheme = name;
    return name;
  }

  function greet() {
    send({ type: "hello", theme: painted(), token });
  }

  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || event.origin !== host || event.data?.threadline !== 1) return;
    const { type, height } = event.data;
    if (type === "ready") greet();
    if (type === "height" && Number.isFinite(height)) frame.style.height = Math.min(Math.max(height, 60), 200_000) + "px";
  });
  frame.addEventListener("load", greet);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => send({ type: "theme", theme: painted() }));
  // Setting the frame's scheme changes no attribute of the page, so this does not call itself.
  new MutationObserver(() => send({ type: "theme", theme: painted() }))
    .observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });

  window.threadlineEmbed = {
    signIn(text) {
      token = text;
      send({ type: "token", token });
    },
    signOut() {
      token = null;
      send({ type: "token", token: null });
    },
  };
})();
