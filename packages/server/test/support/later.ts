// Long waits. Moving the clock past an hour would wake every loop of a running service thousands of times, so the
// service is stopped meanwhile.
import type { Service } from './service.ts'

/** Returns the service restarted after `ms`. Helpers made for the previous service still call that one. */
export async function later(service: Service, ms: number): Promise<Service> {
  await service.app.close()
  await service.clock.advance(ms)
  return service.restart()
}
