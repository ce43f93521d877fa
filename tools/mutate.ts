import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { equivalent } from './mutate/equivalent.ts'
import { type Mutant, mutantsOf, sampleOf } from './mutate/mutants.ts'
import { targets } from './mutate/targets.ts'
import { TestRuns, testsOf } from './mutate/test-runs.ts'

/*
 * Mutation tests of the code that decides permissions: changes it in one place, runs the tests that cover it, and lists the
 * changes that no test noticed. `--count 80 --seed 1` takes a random sample, `--in text` only mutants whose names contain
 * the text, `--part 1/2` a part of the sample, `--list` runs nothing. Fails if a mutant survives.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '80' },
    in: { type: 'string', default: '' },
    part: { type: 'string', default: '1/1' },
    list: { type: 'boolean', default: false },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const all = targets.flatMap((target) => mutantsOf(root, target))
const names = new Set(all.map(({ name }) => name))
const unknown = Object.keys(equivalent).filter((name) => !names.has(name))
for (const name of unknown) console.log(`no such mutant, in tools/mutate/equivalent.ts: ${name}`)
const named = all.filter(({ name }) => name.includes(values.in) && !(name in equivalent))
const [part = 1, parts = 1] = values.part.split('/').map(Number)
const sample = sampleOf(named, Number(values.count), Number(values.seed)).filter(
  (_, index) => index % parts === part - 1,
)
console.log(`${all.length} mutants, ${Object.keys(equivalent).length} equivalent; ${sample.length} to run`)
if (values.list) for (const { name, line } of sample) console.log(`${line}: ${name}`)
else process.exitCode = (await runAll()).length > 0 || unknown.length > 0 ? 1 : 0

/** Runs the sample; returns the survivors. */
async function runAll(): Promise<Mutant[]> {
  await using runs = await TestRuns.start(root)
  const survivors: Mutant[] = []
  for (const mutant of sample) {
    const { failed, seconds } = await runs.run(testsOf(root, mutant.target), mutant)
    if (failed === undefined) survivors.push(mutant)
    console.log(`${failed === undefined ? 'SURVIVED' : 'killed  '} ${seconds.toFixed(1).padStart(5)} s  ${mutant.name}`)
    if (failed !== undefined) console.log(`                  ${failed}`)
  }
  console.log(`\n${sample.length} mutants: ${sample.length - survivors.length} killed, ${survivors.length} survived`)
  for (const { name, line } of survivors) console.log(`  line ${line}: ${name}`)
  return survivors
}
