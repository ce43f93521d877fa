import { createRequire } from 'node:module'

/**
 * linguist reads its data anew for each call: 300 KB of YAML, which takes more time than to classify a hundred files. It changes none of
 * it, so from now on equal texts are parsed once in this thread.
 */
export function parseDataOnce(): void {
  const linguist = createRequire(import.meta.url).resolve('linguist-js')
  // The same object that linguist uses, which looks up `load` for each call.
  const yaml = createRequire(linguist)('js-yaml') as { load: (text: string) => unknown }
  const parse = yaml.load
  const parsed = new Map<string, unknown>()
  yaml.load = (text) => {
    if (!parsed.has(text)) parsed.set(text, parse(text))
    return parsed.get(text)
  }
}
