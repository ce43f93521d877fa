import { LRUCache } from 'lru-cache'

/** What this process knows of the text of a statement. */
export type KnownText = {
  /** Short, and different for each text; a text that was forgotten gets another one. */
  readonly id: string
  /** Executions in this process. */
  uses: number
  /**
   * Searches for a pattern are planned for their values each time: the selectivity of the pattern decides which index is best.
   */
  readonly isPlannedEachTime: boolean
  /** It changes or locks rows, for which it may wait. */
  readonly mayWait: boolean
}

const waits =
  /^\s*(?:insert|update|delete)\b|\b(?:insert into|delete from|(?<!key |for )update \w|for (?:no key |key )?(?:update|share))\b/

/** Characters of all known texts. Lists that combine filters have thousands of texts of up to 20,000 characters. */
const maximumCharacters = 2 * 1024 * 1024

const texts = new LRUCache<string, KnownText>({
  maxSize: maximumCharacters,
  sizeCalculation: (_, text) => text.length + 1,
})
let lastId = 0

export function knownText(text: string): KnownText {
  const known = texts.get(text)
  if (known) return known
  const made = { id: `t${++lastId}`, uses: 0, isPlannedEachTime: /\silike\s/.test(text), mayWait: waits.test(text) }
  texts.set(text, made)
  return made
}
