// Wakes the page as often as the battle has frames, while nobody sees it.
"use strict";
let timer = 0;
onmessage = ({ data: isHidden }) => {
  clearInterval(timer);
  timer = isHidden ? setInterval(() => postMessage(null), 50) : 0;
};
