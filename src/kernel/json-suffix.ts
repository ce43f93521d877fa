const suffix = '.json'

/** A name without `.json`, which names the format if there is nothing of the whole name; undefined if it has no such end. */
export const withoutJsonSuffix = (name: string): string | undefined =>
  name.endsWith(suffix) && !name.endsWith(suffix + suffix) ? name.slice(0, -suffix.length) : undefined
