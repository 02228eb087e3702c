/** Styles, which the bundle includes. */
declare module '*.css';
