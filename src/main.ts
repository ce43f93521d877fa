import { main } from './processes/main.ts'

await main({
  appModule: new URL('./commands.ts', import.meta.url).href,
  runnerModule: new URL('./git/runner/start.ts', import.meta.url).href,
})
