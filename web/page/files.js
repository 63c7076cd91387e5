// The files beside the page: fetched, or, where the page is a single file, embedded in it, deflated.

const embedded = document.getElementById('files');
const known = embedded ? JSON.parse(embedded.textContent) : null;

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function bytesOf(path) {
  if (known) return inflated(Uint8Array.from(atob(known[path]), (letter) => letter.charCodeAt(0)));
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

export async function jsonOf(path) {
  return JSON.parse(new TextDecoder().decode(await bytesOf(path)));
}
