// What the classes for C# do when a game or a caller is wrong.
using System;
using Testudo;

public static class Mistakes
{
    sealed class Mine : Exception { }

    sealed class Toy : Game
    {
        public uint Size = 9;
        public bool InStep, InLength, InBits;
        public Action Within, Refused;
        public override uint ActionBits => InBits ? throw new Mine() : Size;
        public override void Apply(uint player, byte[] data, uint bits) { }
        public override void Step(uint framesPerSecond)
        {
            Within?.Invoke();
            if (InStep) throw new Mine();
        }
        public override ulong Checksum() => 1;
        public override uint ActionLength(byte[] data, uint bits)
        {
            Refused?.Invoke();
            return InLength ? throw new Mine() : 9u;
        }
    }

    /// <summary>A game that two peers may have differently.</summary>
    sealed class Diverging : Game
    {
        public bool IsWrong, ThrowsOnce;
        public Visit Shown;
        uint frames;
        public override uint ActionBits => 9;
        public override void Apply(uint player, byte[] data, uint bits) { }
        public override void Step(uint framesPerSecond) { frames += IsWrong && frames == 20 ? 2u : 1u; }
        public override ulong Checksum() => frames;
        public override bool HasState => true;
        public override bool Save(Testudo.Buffer to)
        {
            if (ThrowsOnce && frames > 20)
            {
                ThrowsOnce = false;
                throw new Mine();
            }
            to.Append(BitConverter.GetBytes(frames));
            return true;
        }
        public override bool Load(byte[] data) { frames = BitConverter.ToUInt32(data, 0); return true; }
        public override bool NamesNumbers => true;
        public override void Visit(Visit numbers) { Shown = numbers; numbers.Number("frames", frames); }
    }

    /// <summary>The recording and the search save the game. What that throws comes out of the call in which it happens, and takes no event away.</summary>
    static void Diverge()
    {
        var config = Config.Default(2);
        config.SessionId = 1;
        config.Own.Records = 1;
        var games = new[] { new Diverging(), new Diverging { IsWrong = true } };
        var peers = new[] { Match.Host(config, games[0], 0), Match.Join(config, games[1], 1, 0, 0) };
        ulong now = 0;
        int thrown = 0, told = 0;
        using (var packet = new Testudo.Buffer())
        {
            Action<ulong> play = until =>
            {
                for (; now < until; now += 10000)
                {
                    for (int n = 0; n < 2; n++)
                    {
                        try { peers[n].Advance(now); }
                        catch (InvalidOperationException) { thrown++; }
                        while (peers[n].PollPacket(now, packet, out _)) peers[1 - n].HandlePacket(now, 0, packet.Bytes());
                        while (Native.testudo_match_poll_message(peers[n], out _, out _, packet) == 1) { }
                    }
                    while (peers[1].PollEvent(out _)) { }
                }
            };
            games[0].ThrowsOnce = true;
            play(3000000);
            while (peers[0].PollEvent(out var happened))
            {
                if (happened.Kind == EventKind.Desync) told++;
            }
            Must(thrown == 1 && told == 1, $"{thrown} exceptions and {told} desyncs");
            play(9000000);
        }
        // It went to memory that had been freed.
        int status = 0;
        try { games[0].Shown.Number("frames", 1); }
        catch (TestudoException refused) { status = refused.Status; }
        Must(status == TestudoException.Null, $"a visit that is over is none (TESTUDO_NULL), not {status}");
        foreach (var peer in peers) peer.Dispose();
    }

    static void Must(bool holds, string what) { if (!holds) throw new Exception("Mistakes.cs: " + what); }

    /// <summary>Whether a call throws such an exception, or one around it.</summary>
    static bool Throws<T>(Action run) where T : Exception
    {
        try { run(); }
        catch (Exception thrown) { return thrown is T || thrown.InnerException is T; }
        return false;
    }

    static Match Begin(Toy game)
    {
        var config = Config.Default(1);
        config.Turns.Count = 4;
        return Match.Single(config, game, 0);
    }

    static void Run(Match match)
    {
        for (ulong now = 0; !match.IsOver; now += 10000)
        {
            match.Advance(now);
            match.NoteWork(100, ulong.MaxValue);
            while (match.PollEvent(out var happened)) Must(match.EventWords != "", "words of " + happened.Kind);
        }
        Must(match.Phase == Numbers.PhaseFinished, "a match that is over, not one in phase " + match.Phase);
    }

    public static void Main()
    {
        var game = new Toy();
        using (var match = Begin(game))
        {
            Must(Throws<ArgumentOutOfRangeException>(() => match.Submit(new byte[1], 9)), "bits that are not there");
            Must(Throws<TestudoException>(() => match.Submit(new byte[2], 8)), "a wrong length");
            match.Submit(new byte[2], 9);
            // That the library refuses something within is the answer "no".
            game.Refused = () => World.FromBytes(new byte[3]);
            var refused = "";
            try { match.Submit(new byte[2], 9); }
            catch (TestudoException thrown) { refused = thrown.Message; }
            Must(refused.Contains("bits"), "a refusal within ActionLength: " + refused);
            game.Refused = null;
            game.InLength = true;
            Must(Throws<Mine>(() => match.Submit(new byte[2], 9)), "an exception in Submit");
            game.InStep = true;
            Must(Throws<Mine>(() => Run(match)), "an exception in Advance");
            game.InLength = game.InStep = false;
            Run(match);
        }
        game.InBits = true;
        Must(Throws<Mine>(() => Begin(game)), "an exception in a maker");
        game.InBits = false;
        game.Size = 0;
        Must(Throws<TestudoException>(() => Begin(game)), "a game without bits");

        // It is freed when the call is over.
        var own = new Toy();
        var freed = Begin(own);
        own.Within = () => freed.Dispose();
        Must(Throws<ObjectDisposedException>(() => Run(freed)), "a match that frees itself");

        Diverge();

        using (var host = Host.Open(Config.Default(2), new Toy(), "127.0.0.1:0", null, 0, out var hosted))
        using (hosted)
        {
            var address = host.Address();
            Must(address.StartsWith("127.0.0.1:") && address != "127.0.0.1:0" && host.Code(1) != "", "a host with a port: " + address);
        }

        var world = new World();
        Must(world.Checksum() != 0, "a checksum");
        using (var words = new Testudo.Buffer())
        using (var other = new World())
        {
            other.Step(60);
            Must(Native.testudo_world_first_difference(world, other, words) == 1, "a difference");
            Must(words.Text().Length + 1 == words.Bytes().Length, "a text with an end");
        }
        // Lists of another size than the first room for them.
        using (var crowded = new World())
        {
            for (int n = 0; n < 70; n++) crowded.Create(World.Body(Numbers.Dynamic, Shape.Circle(Numbers.One)));
            Func<uint, int> found = most => crowded.Nearest(new Vec2(0, 0), Numbers.One, most, World.Filter()).Length;
            Must(found(100) == 70 && found(5) == 5 && found(uint.MaxValue) == 70 && found(0) == 0, "the nearest bodies");
        }
        // A chain that is longer than the first room for a list was made twice.
        using (var terraced = new World())
        {
            var points = new Vec2[100];
            for (int n = 0; n < 100; n++) points[n] = new Vec2(n * Numbers.One, 0);
            Must(terraced.CreateChain(points, World.Terrain()).Length == 99 && terraced.Bodies().Length == 99, "a chain");
            var closed = World.Terrain();
            closed.Closed = 1;
            Array.Resize(ref points, 3);
            points[1].Y = Numbers.One;
            Must(terraced.CreateChain(points, closed).Length == 3 && terraced.Bodies().Length == 102, "a chain that is closed");
            Must(Throws<TestudoException>(() => terraced.CreateChain(new Vec2[0], closed)), "a chain without points");
        }
        world.Dispose();
        Must(Throws<ObjectDisposedException>(() => world.Checksum()), "a world that is freed");
    }
}
