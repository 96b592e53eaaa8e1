// The menu of narrow windows, and tables and code that scroll with the keyboard too.
{
  const root = document.documentElement;
  const button = document.getElementById("menu");
  const sidebar = document.getElementById("sidebar");

  const open = (isOpen) => {
    root.classList.toggle("has-menu", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) sidebar.querySelector("a, summary")?.focus();
  };
  button.addEventListener("click", () => open(!root.classList.contains("has-menu")));
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !root.classList.contains("has-menu")) return;
    open(false);
    button.focus();
  });
  document.querySelector(".overlay").addEventListener("click", () => open(false));

  const scrollers = document.querySelectorAll(
    ".tsd-typography table, .tsd-typography p:has(> img), pre, .tsd-signature",
  );
  const mark = () => {
    for (const element of scrollers) {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  };
  new ResizeObserver(mark).observe(document.body);
}
