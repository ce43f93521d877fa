import { fileURLToPath } from 'node:url'
import { areas } from '../src/modules/endpoints.ts'
import { settingParams } from '../src/modules/projects/projects/settings.ts'
import type { SettingSchema } from '../src/settings/declared/schema.ts'
import { declared } from '../src/settings/settings.ts'
import { readModules } from './boundaries/modules.ts'
import { isTest } from './boundaries/rules.ts'
import { exceptions, readerOf, shownOnly, storesSettings, unread } from './unread-inputs/names.ts'

// Finds parameters of endpoints and settings, of the installation and of projects, that no code reads: they would be accepted without
// effect.
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const shipped = (await readModules(root, 'src')).filter(
  ({ path }) => !isTest(path) && !/\/testing\/|^src\/settings\/declared\//.test(path),
)
const isRead = readerOf(shipped.map(({ code }) => code))

const parameters = Object.values(areas)
  .flat()
  .flatMap(({ method, path, params, subject }) =>
    Object.keys({ ...(params as { properties?: object } | undefined)?.properties }).map((name) => ({
      name,
      where: `${method} ${path}`,
      isInPath: path.includes(`:${name}`) || path.includes(`*${name}`) || name in (subject.params?.properties ?? {}),
    })),
  )
  // Those that change settings are the settings below.
  .filter(({ isInPath, where }) => !isInPath && where !== 'PUT /application/settings')
const settings = declared.map(([name, schema]) => ({
  name: name as string,
  where: 'application settings',
  without: (schema as unknown as SettingSchema).without,
}))

const hasEffect = readerOf(shipped.filter(({ path }) => !storesSettings(path)).map(({ code }) => code))
const projectSettings = Object.keys(settingParams)

const problems = [
  ...projectSettings
    .filter((name) => !hasEffect(name) && shownOnly[name] === undefined)
    .map(
      (name) =>
        `the setting ${name} of projects has no effect: implement it, or name the missing part in \`shownOnly\``,
    ),
  ...Object.keys(shownOnly)
    .filter((name) => hasEffect(name) || !projectSettings.includes(name))
    .map((name) => `${name} in \`shownOnly\` of tools/unread-inputs/names.ts has an effect, or is no setting`),
  ...unread(parameters, isRead).map(({ name, where }) => `no code reads the parameter ${name} of ${where}`),
  ...unread(
    settings.filter(({ without }) => without === undefined),
    isRead,
  ).map(({ name }) => `no code reads the setting ${name}: implement it, or name the missing part in \`without\``),
  ...Object.keys(exceptions)
    .filter((name) => isRead(name) || !parameters.some((each) => each.name === name))
    .map((name) => `the exception ${name} in tools/unread-inputs/names.ts is not needed`),
]
console.log(
  problems.length === 0 ? 'every parameter and setting is read, or names the part it waits for' : problems.join('\n'),
)
process.exitCode = problems.length === 0 ? 0 : 1
