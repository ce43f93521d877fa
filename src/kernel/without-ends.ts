/** The text without any of this character at its end. Takes linear time; `/x+$/` tries again at each `x` of the text. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** The text without any of this character at its beginning and end. Takes linear time. */
export function withoutEnds(text: string, character: string): string {
  let begin = 0
  while (begin < text.length && text[begin] === character) begin++
  return withoutTrailing(text.slice(begin), character)
}
