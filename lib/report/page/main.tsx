import { render } from 'preact';
import type { ReportFacts } from '../facts.ts';
import { App } from './app.tsx';
import './page.css';
import './parts.css';
import './print.css';

/** Reads the facts inside the page, which the browser decompresses. */
async function readFacts(): Promise<ReportFacts> {
  const packed = document.getElementById('facts')?.textContent ?? '';
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return await new Response(stream).json();
}

const page = document.getElementById('page');

readFacts().then(
  (facts) => {
    if (page === null) return;
    page.textContent = '';
    render(<App facts={facts} />, page);
    performance.mark('ready');
  },
  (error: unknown) => {
    if (page === null) return;
    page.textContent = `This report cannot be opened in this browser: ${String(error)}. A browser of 2024 or later can.`;
  },
);
