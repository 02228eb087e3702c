/** Called with what a publication could not do, in words, although it ended as it should, and with the reason. */
export type Warn = (what: string, reason: Error) => void;
