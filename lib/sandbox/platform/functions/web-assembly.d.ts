/** The one part of WebAssembly that is used here: Node has it, but its types come with `lib.dom` only. */
declare namespace WebAssembly {
  class Memory {
    constructor(pages: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
  }
}
