import { main } from '../main.ts'

/* Like `src/main.ts`, with stand-ins for the app and the git runner. */

const here = (path: string) => new URL(path, import.meta.url).href

await main({ appModule: here('./app.ts'), runnerModule: here('./runner.ts') })
