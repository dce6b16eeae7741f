"use strict";
// Sends the calls of the forms. The key is read from its field when a call is sent, and is kept nowhere else.

const keyForm = document.getElementById("key-form");
keyForm.hidden = false;
keyForm.addEventListener("submit", (event) => event.preventDefault());

for (const form of document.querySelectorAll("form.try")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

async function send(form) {
  const reply = form.querySelector(".reply");
  const stop = form.elements.stop;
  const aborter = new AbortController();
  const started = performance.now();
  const elapsed = () => `${((performance.now() - started) / 1000).toFixed(2)} s`;
  const button = form.querySelector("button");
  say(form, "Waiting for the answer …", "");
  reply.textContent = "";
  reply.hidden = true;
  button.disabled = true;
  stop.hidden = false;
  stop.onclick = () => aborter.abort();
  try {
    const response = await fetch(form.dataset.path, request(form, aborter.signal));
    const id = response.headers.get("x-request-id");
    const head = `HTTP ${response.status}, request ${id}`;
    say(form, head, "");
    reply.hidden = false;
    await show(response, reply);
    say(form, `${head}, ${elapsed()}`, response.ok ? "good" : "bad");
  } catch (error) {
    const why = aborter.signal.aborted ? "Stopped" : `The call failed: ${error.message}`;
    say(form, `${why} after ${elapsed()}`, "bad");
  } finally {
    button.disabled = false;
    stop.hidden = true;
  }
}

function request(form, signal) {
  const headers = {};
  const key = document.getElementById("key").value.trim();
  if (key) headers["X-API-Key"] = key;
  if (form.elements.accept) headers["Accept"] = form.elements.accept.value;
  const options = { method: form.dataset.method, headers, signal, credentials: "omit", redirect: "error" };
  if (form.elements.body) {
    headers["Content-Type"] = "application/json";
    options.body = form.elements.body.value;
  }
  return options;
}

// A stream of lines is shown as it comes, everything else when it is whole.
async function show(response, reply) {
  const kind = response.headers.get("content-type") || "";
  if (!kind.startsWith("application/x-ndjson")) {
    reply.textContent = pretty(await response.text(), kind);
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    reply.append(part.value);
  }
}

function pretty(text, kind) {
  if (!kind.startsWith("application/json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function say(form, text, mood) {
  const status = form.querySelector(".status");
  status.textContent = text;
  status.className = `status ${mood}`;
}
