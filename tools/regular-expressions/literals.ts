import ts from 'typescript-5'

/** Expressions that may take more than linear time, each with what bounds the text. */
export const exceptions: Readonly<Record<string, string>> = {
  [String.raw`/^(STITHY(?:_[A-Z0-9]+)*?)_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/`]:
    'names of environment variables',
  [String.raw`/\d+\.\d+\S*/`]: 'what `git --version` prints',
  [String.raw`/^\s*(-?)\s*(.*?)\s*$/s`]: '100 characters of a duration',
  [String.raw`/(\d+(?:\.\d+)?)\s*([a-z]+)/g`]: '100 characters of a duration',
}

/** The literal regular expressions of a file, as they are written, and their lines, from 1. */
export function literalsOf(code: string): { literal: string; line: number }[] {
  const file = ts.createSourceFile('file.ts', code, ts.ScriptTarget.Latest, true)
  const found: { literal: string; line: number }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node))
      found.push({ literal: node.text, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1 })
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}
