import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript-5'
import { describe, expect, test } from 'vitest'
import { codeEdits } from '../../tools/mutate/code-edits.ts'
import { equivalent } from '../../tools/mutate/equivalent.ts'
import { mutantsOf, sampleOf } from '../../tools/mutate/mutants.ts'
import { targets } from '../../tools/mutate/targets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** The mutants of a source, each as the whole changed source. */
const mutated = (source: string): string[] =>
  codeEdits('x.ts', source).map(({ start, end, text }) => source.slice(0, start) + text + source.slice(end))

describe('mutants of code', () => {
  test('drop an operand and replace a comparison and a level', () => {
    expect(mutated('const x = a.level >= levels.reporter && b')).toEqual([
      'const x = b',
      'const x = a.level >= levels.reporter',
      'const x = a.level > levels.reporter && b',
      'const x = a.level >= levels.guest && b',
      'const x = a.level >= levels.developer && b',
    ])
  })

  test('skip a guard, negate it, and return the other value', () => {
    expect(mutated('function f(): boolean {\n  if (a.b) return true\n  return c\n}')).toEqual([
      'function f(): boolean {\n  if (!(a.b)) return true\n  return c\n}',
      'function f(): boolean {\n  if (false) return true\n  return c\n}',
      'function f(): boolean {\n  if (a.b) return false\n  return c\n}',
      'function f(): boolean {\n  if (a.b) return true\n  return true\n}',
      'function f(): boolean {\n  if (a.b) return true\n  return false\n}',
    ])
  })

  test('change the role of a rule and leave out its parts', () => {
    expect(mutated(`const p = { read: { from: 'guest', open: 'anyone' } }`)).toEqual([
      `const p = { read: { from: 'reporter', open: 'anyone' } }`,
      `const p = { read: { from: 'guest', open: 'signed_in' } }`,
      `const p = { read: { from: 'guest',  } }`,
    ])
  })
})

describe('mutants of SQL', () => {
  test('drop and negate conditions, also around holes', () => {
    const of = (condition: string) => `sql\`select from t where ${condition}\``
    expect(mutated(of('a = ${x} and not b or exists (select from u where c > d)'))).toEqual(
      [
        'a <> ${x} and not b or exists (select from u where c > d)',
        'a = ${x} and  b or exists (select from u where c > d)',
        'a = ${x} and not b or not exists (select from u where c > d)',
        'a = ${x} and not b or exists (select from u where c >= d)',
        'exists (select from u where c > d)',
        'a = ${x} and not b ',
        'not b or exists (select from u where c > d)',
        'a = ${x}  or exists (select from u where c > d)',
        'a = ${x} and not b or exists (select from u where true)',
      ].map((condition) => of(condition).replace('b `', 'b `')),
    )
  })

  test('drop the condition before an or at the end of a part', () => {
    expect(mutated('sql`a = ${x} or `')).toEqual(['sql`a <> ${x} or `', 'sql` `'])
  })
})

describe('the mutants of the code of permissions', () => {
  const all = targets.flatMap((target) => mutantsOf(root, target))

  test('have names that identify them, and the exceptions name some of them', () => {
    const names = new Set(all.map(({ name }) => name))
    expect(names.size).toBe(all.length)
    expect(Object.keys(equivalent).filter((name) => !names.has(name))).toEqual([])
  })

  test('change the source and still parse', () => {
    for (const { name, target, text } of sampleOf(all, 40, 1)) {
      expect(text, name).not.toBe(readFileSync(`${root}/${target.file}`, 'utf8'))
      const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true })
      expect(diagnostics, name).toEqual([])
    }
  })

  test('are the same sample for the same seed', () => {
    expect(sampleOf(all, 5, 3)).toEqual(sampleOf(all, 5, 3))
    expect(sampleOf(all, 5, 3)).not.toEqual(sampleOf(all, 5, 4))
  })
})
