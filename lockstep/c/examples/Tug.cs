// Tug in C#: the host or a guest of a match over plain UDP. TUG.md has the rules.
//
//   mcs -out:tug.exe ../csharp/*.cs Tug.cs && LD_LIBRARY_PATH=../target/release mono tug.exe host 2 80
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Testudo;

// ---- The rules

public sealed class Tug : Game
{
    const long One = Numbers.One;
    public World World = new World();
    public readonly Crowd Crowd = new Crowd(Crowd.Default(new Box { Min = new Vec2(-32 * One, -32 * One), Max = new Vec2(32 * One, 32 * One) }));
    public ulong Frames, Orders;
    public readonly ulong[] Points;
    readonly ulong wall;
    readonly List<ulong> discs = new List<ulong>(), runners = new List<ulong>();

    public Tug(uint players)
    {
        Points = new ulong[players];
        wall = World.Create(World.Body(Numbers.Static, Shape.Rect(One, 20 * One)));
        var disc = World.Body(Numbers.Dynamic, Shape.Circle(One));
        disc.Material.Restitution = disc.Material.Damping = One / 2;
        for (int n = 0; n < 2 * players; n++)
        {
            disc.Position = new Vec2((n % 2 == 0 ? -10 : 10) * One, (4 * (n / 2) - 2 * ((long)players - 1)) * One);
            discs.Add(World.Create(disc));
        }
        var runner = World.Body(Numbers.Dynamic, Shape.Circle(One / 2));
        for (int n = 0; n < 2 * players; n++)
        {
            runner.Position = new Vec2((n % 2 == 0 ? -20 : -24) * One, (4 * (n / 2) - 2 * ((long)players - 1)) * One);
            runners.Add(World.Create(runner));
        }
        Crowd.Survey(World);
        foreach (var unit in runners) Crowd.Add(World, unit, 16 * One, 64 * One);
    }

    public override uint ActionBits => 24;

    public override void Apply(uint player, byte[] data, uint bits)
    {
        if (bits != 24) return;
        uint order = data[0] | (uint)data[1] << 8 | (uint)data[2] << 16, disc = order & 15;
        if (disc / 2 != player || disc >= discs.Count) return;
        Orders++;
        long x = Signed10(order >> 4) * 4096, y = Signed10(order >> 14) * 4096;
        // A loaded state may lack the disc or a runner, on all peers.
        try { World.ApplyImpulse(discs[(int)disc], x, y); }
        catch (TestudoException) { }
        try { if (x % One == 0) Crowd.Order(World, runners.Skip(2 * (int)player).Take(2).ToArray(), Crowd.Go(x, y)); }
        catch (TestudoException) { }
    }

    public override void Step(uint framesPerSecond)
    {
        Frames++;
        Crowd.Step(World, framesPerSecond);
        World.Step(framesPerSecond);
        foreach (var touched in World.Events(Numbers.ContactsBegan))
        {
            int n = discs.IndexOf(touched.B);
            if (touched.A == wall && n >= 0) Points[n / 2]++;
        }
        foreach (var moved in Crowd.Events())
        {
            int n = runners.IndexOf(moved.Unit);
            if (moved.Kind == Crowd.Arrived && n >= 0) Points[n / 2] += 100;
        }
    }

    public override void PlayerGone(uint player, uint turn) { Points[player] = 0; }

    public override ulong Checksum() => Numbers.Hash(ToBytes(Own().Concat(new[] { World.Checksum(), Crowd.Checksum() })));

    public override bool HasState => true;
    public override bool Save(Testudo.Buffer to)
    {
        using (var saved = new Testudo.Buffer())
        {
            World.Save(saved);
            var world = saved.Bytes();
            to.Append(ToBytes(Own().Concat(new[] { (ulong)world.Length })));
            to.Append(world);
        }
        Crowd.Save(to);
        return true;
    }

    public override bool Load(byte[] data)
    {
        int own = (3 + Points.Length) * 8;
        if (data.Length < own || Get(data, own - 8) > (ulong)(data.Length - own)) return false;
        int length = (int)Get(data, own - 8);
        World loaded = null;
        try
        {
            // A new world, so that nothing has changed if the crowd's bytes are refused.
            loaded = World.FromBytes(data.Skip(own).Take(length).ToArray());
            Crowd.Load(loaded, data.Skip(own + length).ToArray());
        }
        catch (TestudoException)
        {
            loaded?.Dispose();
            return false;
        }
        World.Dispose();
        World = loaded;
        Frames = Get(data, 0);
        Orders = Get(data, 8);
        for (int player = 0; player < Points.Length; player++) Points[player] = Get(data, 16 + 8 * player);
        return true;
    }

    public override bool NamesNumbers => true;
    public override void Visit(Visit numbers)
    {
        numbers.Number("frames", (long)Frames);
        numbers.Number("orders", (long)Orders);
        for (int player = 0; player < Points.Length; player++)
        {
            numbers.Object("player", (uint)player);
            numbers.Number("points", (long)Points[player]);
        }
        numbers.World(World);
        numbers.Crowd(Crowd);
    }

    // Ten bits in two's complement.
    static long Signed10(uint bits) => (long)(bits & 1023) - ((bits & 512) != 0 ? 1024 : 0);
    // The game's own numbers.
    IEnumerable<ulong> Own() => new[] { Frames, Orders }.Concat(Points);
    static byte[] ToBytes(IEnumerable<ulong> numbers) => numbers.SelectMany(number => Enumerable.Range(0, 8).Select(i => (byte)(number >> (8 * i)))).ToArray();
    static ulong Get(byte[] data, int at) => Enumerable.Range(0, 8).Aggregate(0ul, (number, i) => number | (ulong)data[at + i] << (8 * i));
}

public static class Program
{
    // ---- Who plays

    static void GiveOrder(Match match, uint player, uint turn)
    {
        if (turn % 4 == 3) return;
        int x = 150 + (int)((53 * turn + 17 * player) % 300), y = (int)((29 * turn + 71 * player) % 201) - 100;
        if (turn % 2 == 1) x = -x;
        uint order = (2 * player + turn % 2) | ((uint)x & 1023) << 4 | ((uint)y & 1023) << 14;
        try { match.Submit(new[] { (byte)order, (byte)(order >> 8), (byte)(order >> 16) }, 24); }
        catch (TestudoException) { } // refused before the start, and in the last turns: no matter
    }

    // ---- The program

    static int Play(Tug tug, Udp udp, Match match, uint player, bool flips)
    {
        int result = 0;
        for (uint next = 0; !match.IsOver;)
        {
            udp.Round(match, Numbers.NowUs());
            for (uint turn = match.Turn; turn >= next; next = turn + 1)
            {
                if (player < tug.Points.Length) GiveOrder(match, player, turn);
                if (next > 20 || turn < 20) continue;
                if (flips) tug.Points[0] ^= 1;
                Console.WriteLine("turn 20");
            }
            while (match.PollEvent(out var happened))
            {
                if (happened.Kind == EventKind.Desync)
                {
                    Console.WriteLine("desync: " + match.EventWords);
                    result = 3;
                }
                if (happened.Kind == EventKind.Difference) Console.WriteLine("difference: " + match.EventWords);
                if (happened.Kind == EventKind.Failed || happened.Kind == EventKind.PlayerGone)
                {
                    Console.Error.WriteLine(match.EventWords);
                    result = 1;
                }
            }
            Thread.Sleep(3);
        }
        udp.Pump(match, Numbers.NowUs());
        return result;
    }

    public static int Main(string[] words)
    {
        bool flips = words.Length > 0 && words[words.Length - 1] == "flip";
        if (flips) Array.Resize(ref words, words.Length - 1);
        int given = words.Length;
        bool hosts = given == 3 && words[0] == "host", watches = given == 4 && words[0] == "watch";
        if (!hosts && !watches && !(given == 5 && words[0] == "join"))
        {
            Console.Error.WriteLine("tug host PLAYERS TURNS, tug join PORT PLAYER PLAYERS TURNS, or tug watch PORT PLAYERS TURNS");
            return 2;
        }
        uint players = uint.Parse(words[given - 2]), player = hosts ? 0 : watches ? Numbers.Watcher : uint.Parse(words[2]);
        var config = Config.Default(players);
        config.SessionId = 1; // a game draws it at random, and its host tells it to the guests
        config.ContentHash = Numbers.Hash(System.Text.Encoding.UTF8.GetBytes("tug 2"));
        config.Turns.FramesPerSecond = 20;
        config.Turns.FramesPerTurn = 2;
        config.Turns.Count = uint.Parse(words[given - 1]);
        config.Arrivals.LateWatchers = 1;
        config.Waits.DropAfterMs = config.Waits.SilenceTimeoutMs = 120000; // the machine may have other things to do

        var tug = new Tug(players);
        using (tug.Crowd)
        using (var udp = new Udp("127.0.0.1:0"))
        {
            if (hosts) Console.WriteLine("port " + udp.Address().Split(':').Last());
            uint link = hosts ? Numbers.NoPeer : udp.AddPeer("127.0.0.1:" + words[1]);
            ulong now = Numbers.NowUs();
            using (var match = hosts ? Match.Host(config, tug, now) : watches ? Match.Watch(config, tug, link, now) : Match.Join(config, tug, player, link, now))
            {
                int result = Play(tug, udp, match, player, flips);
                Console.WriteLine($"turns {match.Turn} checksum {tug.Checksum():x16} frames {tug.Frames} orders {tug.Orders} points {string.Join(" ", tug.Points)}");
                return result;
            }
        }
    }
}
