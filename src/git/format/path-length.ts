/** What git itself can check out on the usual systems. */
export const maxPathLength = 4096

/** In lists, whose links repeat the path up to four times, encoded: clients bound all headers together at 16 KiB. */
export const maxListedPathLength = 1024
