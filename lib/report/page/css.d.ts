/** Styles that the bundle takes along. */
declare module '*.css';
