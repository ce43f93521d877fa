import { main } from '../main.ts'

/* Stithy with stand-ins for the app and the git runner: what `src/main.ts` is to the real ones. */

const here = (path: string) => new URL(path, import.meta.url).href

await main({ appModule: here('./app.ts'), runnerModule: here('./runner.ts') })
