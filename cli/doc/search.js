const field = document.getElementById("search");
const found = document.getElementById("found");
const entries = [...document.querySelectorAll("article")].map((element) => ({
  element,
  text: element.textContent.toLowerCase(),
}));

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { element, text } of entries) {
    element.hidden = !words.every((word) => text.includes(word));
    count += element.hidden ? 0 : 1;
  }
  for (const section of document.querySelectorAll("section")) {
    section.hidden = words.length > 0 && !section.querySelector("article:not([hidden])");
  }
  found.textContent = words.length > 0 ? `${count} of ${entries.length}` : "";
});
