import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { SignatureError, verify } from "switchboard-client/webhooks";

const secret = process.env.SWITCHBOARD_WEBHOOK_SECRET ?? "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

export const receiver = createServer(async (request, response) => {
  try {
    const event = await verify(secret, request.headers, await buffer(request)); // the raw bytes, before anything parses them
    console.log(event.type, event.data.resourceId);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof SignatureError ? 401 : 500).end();
  }
});
