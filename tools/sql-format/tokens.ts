/**
 * The tokens of SQL in order, without white space. Words that are not quoted are in lower case, because the server reads
 * them so. A run of operator characters is one token: white space within it would change its meaning.
 */
export function tokensOf(text: string): string[] {
  const tokens: string[] = []
  for (const { token, quoted } of scan(text)) tokens.push(quoted ? token : token.toLowerCase())
  return tokens
}

/** The tokens of SQL, each with whether white space stands before it. */
export function spacedTokensOf(text: string): { readonly token: string; readonly spaced: boolean }[] {
  return scan(text).map(({ token, at, end }) => ({ token, spaced: at !== end }))
}

type Scanned = {
  token: string
  quoted: boolean /** Where it begins. */
  at: number /** Where the one before ends. */
  end: number
}

const patterns: readonly { readonly quoted: boolean; readonly pattern: RegExp }[] = [
  { quoted: true, pattern: /--[^\n]*/y },
  { quoted: true, pattern: /\/\*[\s\S]*?\*\//y },
  { quoted: true, pattern: /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/y },
  { quoted: true, pattern: /'(?:[^']|'')*'/y },
  { quoted: true, pattern: /"(?:[^"]|"")*"/y },
  { quoted: true, pattern: /\$(\w*)\$[\s\S]*?\$\1\$/y },
  { quoted: false, pattern: /[\p{L}\p{N}_$]+/uy },
  { quoted: false, pattern: /[-+*/<>=~!@#%^&|`?:]+/y },
  { quoted: false, pattern: /[^\s]/uy },
]

function scan(text: string): Scanned[] {
  const found: Scanned[] = []
  let [at, end] = [0, 0]
  while (at < text.length) {
    if (/\s/.test(text[at]!)) {
      at++
      continue
    }
    for (const { quoted, pattern } of patterns) {
      pattern.lastIndex = at
      const token = pattern.exec(text)?.[0]
      if (token === undefined) continue
      found.push({ token: token.trimEnd(), quoted, at, end })
      at += token.length
      end = at
      break
    }
  }
  return found
}
