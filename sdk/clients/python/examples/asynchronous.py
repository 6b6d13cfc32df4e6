import asyncio

from switchboard import AsyncSwitchboard


async def main() -> None:
    async with AsyncSwitchboard() as sb:
        first = await sb.calendars.list(limit=10)  # the first page
        print(len(first["data"]), "calendars")
        async for contact in sb.contacts.list():  # every item
            print(contact["displayName"])
        async with asyncio.TaskGroup() as group:
            for calendar in first["data"]:
                group.create_task(sb.calendars.get(calendar["id"]))


asyncio.run(main())
