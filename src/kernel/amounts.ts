/** `12.3 MB`; a megabyte has a million bytes. */
export const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/** `1 repository`, `2 repositories`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
