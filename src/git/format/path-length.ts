/** Maximum path length that git can check out on common systems, in bytes. */
export const maxPathLength = 4096

/**
 * Maximum path length in lists, whose links repeat the encoded path up to four times: clients limit all headers
 * together to 16 KiB.
 */
export const maxListedPathLength = 1024
