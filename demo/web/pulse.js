// A clock for the page as fast as the battle's frames, which the browser does not slow down while nobody sees the page.
setInterval(() => postMessage(null), 50);
