// Testudo for C# (netstandard 2.1, Unity with Mono or IL2CPP): owners of the handles of testudo.h, exceptions for its failures, the game as a class.
// Put the files of this folder and the library (testudo.dll, libtestudo.so, libtestudo.dylib) into the project.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Testudo
{
    /// <summary>A call has failed: its status, and the words of the library.</summary>
    public sealed class TestudoException : Exception
    {
        /// <summary>One of the numbers below.</summary>
        public readonly int Status;
        /// <summary>TESTUDO_OUT_OF_RANGE and so on: testudo.h says what they mean.</summary>
        public const int Null = 1, OutOfRange = 2, Stale = 3, Refused = 4, Full = 5, Damaged = 6, Version = 7, Busy = 8, Panicked = 9, IO = 10, GameFailed = 11;
        public TestudoException(int status) : base(Numbers.Text(Native.testudo_error())) { Status = status; }
        /// <summary>Throws unless the status is 0.</summary>
        public static void Check(int status) { if (status != 0) throw new TestudoException(status); }
    }

    public static class Numbers
    {
        /// <summary>One, as the simulation counts.</summary>
        public const long One = 65536;
        /// <summary>TESTUDO_INTERFACE_VERSION of the library that these files were written for.</summary>
        public const uint Interface = 1;
        public const ulong NoBody = ulong.MaxValue;
        public const uint Static = 0, Kinematic = 1, Dynamic = 2;
        public const uint ContactsBegan = 0, ContactsEnded = 1, ContactsStayed = 2, SensorsBegan = 3, SensorsEnded = 4;
        /// <summary>A time in settings that never comes.</summary>
        public const uint Never = uint.MaxValue;
        public const uint Relay = 253, Watcher = 254, Nobody = 255, NoPeer = uint.MaxValue;
        /// <summary>To whom a message goes, besides a player (testudo_match_send_message).</summary>
        public const uint Everybody = 256, Middle = 257;
        /// <summary>Match.Phase is one of these.</summary>
        public const uint PhaseLobby = 0, PhaseRunning = 1, PhaseEnding = 2, PhaseFinished = 3, PhaseLeft = 4, PhaseFailed = 5, PhaseNone = 255;
        // Of Config: Topology, Turns.Pace, Controls.Who; and of testudo_match_resign.
        public const uint TopologyHost = 0, TopologyRelay = 1, TopologyMesh = 2;
        public const uint PaceFixed = 0, PaceAdaptive = 1, PaceArticle = 2;
        public const uint ControlsEverybody = 0, ControlsMajority = 1, ControlsHost = 2;
        public const uint SuccessorAsConfigured = 0, SuccessorNobody = 1, SuccessorBot = 2;

        /// <summary>Hash of bytes, as the checksums of the library are made.</summary>
        public static ulong Hash(byte[] bytes) => Native.testudo_hash(bytes, (UIntPtr)bytes.Length);

        /// <summary>The time of a clock that never goes back, in microseconds.</summary>
        public static ulong NowUs() => (ulong)(System.Diagnostics.Stopwatch.GetTimestamp() * (1e6 / System.Diagnostics.Stopwatch.Frequency));

        /// <summary>Before a structure goes to the library, which may be another one, with other fields.</summary>
        internal static void CheckInterface()
        {
            uint found = Native.testudo_interface_version();
            if (found != Interface) throw new InvalidOperationException($"the library testudo has the interface {found}, these files are for {Interface}");
        }

        internal static string Text(IntPtr words)
        {
            if (words == IntPtr.Zero) return "";
            int length = 0;
            while (Marshal.ReadByte(words, length) != 0) length++;
            return Encoding.UTF8.GetString(Copy(words, length));
        }

        internal static byte[] Copy(IntPtr data, int length)
        {
            var bytes = new byte[length];
            if (length > 0) Marshal.Copy(data, bytes, 0, length);
            return bytes;
        }
    }

    /// <summary>The one owner of a handle.</summary>
    public abstract class Owner : SafeHandle
    {
        protected Owner(IntPtr handle) : base(IntPtr.Zero, true) { SetHandle(handle); }
        public override bool IsInvalid => handle == IntPtr.Zero;
        protected static IntPtr Made(int status, IntPtr handle) { TestudoException.Check(status); return handle; }
    }

    /// <summary>Bytes that the library writes.</summary>
    public sealed class Buffer : Owner
    {
        readonly bool borrowed;
        public Buffer() : base(Native.testudo_buffer_new()) { }
        internal Buffer(IntPtr handle) : base(handle) { borrowed = true; }
        protected override bool ReleaseHandle() { if (!borrowed) Native.testudo_buffer_free(handle); return true; }
        public byte[] Bytes()
        {
            var bytes = Numbers.Copy(Native.testudo_buffer_data(this), checked((int)Native.testudo_buffer_length(this)));
            GC.KeepAlive(this); // nobody frees what is being copied
            return bytes;
        }
        /// <summary>Text without the zero at its end, if it has one.</summary>
        public string Text() => Encoding.UTF8.GetString(Bytes()).TrimEnd('\0');
        public void Append(byte[] bytes) => TestudoException.Check(Native.testudo_buffer_append(this, bytes, (UIntPtr)bytes.Length));
    }

    /// <summary>A world of the physics. What is not here: Native has all functions. One of a match belongs to the thread that runs the match: a call in
    /// another thread at the same time is refused, and a refused Step is a desync.</summary>
    public sealed class World : Owner
    {
        public delegate int Fill<T>(T[] to, uint capacity);

        public World() : base(New(Default())) { }
        World(IntPtr handle) : base(handle) { }
        /// <summary>A world in a saved state, from bytes of any origin.</summary>
        public static World FromBytes(byte[] bytes) => new World(Made(Native.testudo_world_from_bytes(bytes, (UIntPtr)bytes.Length, out var handle), handle));
        public World(WorldDef def) : base(New(def)) { }
        protected override bool ReleaseHandle() { Native.testudo_world_free(handle); return true; }
        static IntPtr New(WorldDef def)
        {
            Numbers.CheckInterface();
            return Made(Native.testudo_world_new(ref def, out var handle), handle);
        }

        public static WorldDef Default()
        {
            Numbers.CheckInterface();
            TestudoException.Check(Native.testudo_world_def_default(out var def));
            return def;
        }
        /// <summary>The defaults of a body: Numbers.Static, Kinematic or Dynamic.</summary>
        public static BodyDef Body(uint kind, Shape shape) { TestudoException.Check(Native.testudo_body_def_default(kind, ref shape, out var def)); return def; }
        /// <summary>The defaults of a chain or polygon.</summary>
        public static TerrainDef Terrain() { TestudoException.Check(Native.testudo_terrain_def_default(out var def)); return def; }
        public static QueryFilter Filter() { TestudoException.Check(Native.testudo_query_filter_default(out var filter)); return filter; }

        public ulong Create(BodyDef def) { TestudoException.Check(Native.testudo_world_create_body(this, ref def, out var body)); return body; }
        /// <summary>A handle for each segment.</summary>
        public ulong[] CreateChain(Vec2[] points, TerrainDef def)
        {
            // A chain of n points has n segments at most.
            var to = new ulong[points.Length];
            Array.Resize(ref to, Counted(Native.testudo_world_create_chain(this, ref def, points, (uint)points.Length, to, (uint)to.Length)));
            return to;
        }
        public void Remove(ulong body) => TestudoException.Check(Native.testudo_world_remove_body(this, body));
        public void Step(uint framesPerSecond) => TestudoException.Check(Native.testudo_world_step(this, framesPerSecond));
        public ulong Frame => Native.testudo_world_frame(this);
        public ulong Checksum()
        {
            ulong sum = Native.testudo_world_checksum(this);
            if (sum != 0) return sum;
            // It was refused: no world has this one.
            int reason = -Native.testudo_world_has_body(this, Numbers.NoBody);
            throw new TestudoException(reason > 0 ? reason : TestudoException.Busy);
        }
        public BodyState State(ulong body) { TestudoException.Check(Native.testudo_world_body_state(this, body, out var state)); return state; }
        public Vec2 PositionOf(ulong body) { TestudoException.Check(Native.testudo_world_position(this, body, out var position)); return position; }
        public Vec2 VelocityOf(ulong body) { TestudoException.Check(Native.testudo_world_velocity(this, body, out var velocity)); return velocity; }
        public void SetPosition(ulong body, long x, long y) => TestudoException.Check(Native.testudo_world_set_position(this, body, x, y));
        public void SetVelocity(ulong body, long x, long y) => TestudoException.Check(Native.testudo_world_set_velocity(this, body, x, y));
        public void ApplyImpulse(ulong body, long x, long y) => TestudoException.Check(Native.testudo_world_apply_impulse(this, body, x, y));
        public void ApplyForce(ulong body, long x, long y) => TestudoException.Check(Native.testudo_world_apply_force(this, body, x, y));
        /// <summary>Appends the state.</summary>
        public void Save(Buffer to) => TestudoException.Check(Native.testudo_world_save(this, to));
        /// <summary>Bytes of any origin. If they are refused, the world stays as it was.</summary>
        public void Load(byte[] bytes) => TestudoException.Check(Native.testudo_world_load(this, bytes, (UIntPtr)bytes.Length));

        public ulong[] Bodies() => List<ulong>((to, capacity) => Native.testudo_world_bodies(this, to, capacity));
        /// <summary>Of the last step: Numbers.ContactsBegan and so on.</summary>
        public ContactEvent[] Events(uint which) => List<ContactEvent>((to, capacity) => Native.testudo_world_events(this, which, to, capacity));
        /// <summary>For drawing between the last two frames; <paramref name="alpha"/> is Match.Alpha.</summary>
        public Drawn[] Interpolated(uint alpha) => List<Drawn>((to, capacity) => Native.testudo_world_interpolated(this, alpha, to, capacity));
        public ulong[] QueryArea(Box area, QueryFilter filter) => List<ulong>((to, capacity) => Native.testudo_world_query_area(this, ref area, ref filter, to, capacity));

        /// <summary>The nearest bodies within a distance, at most so many, the nearest first.</summary>
        public Near[] Nearest(Vec2 point, long distance, uint count, QueryFilter filter)
        {
            var to = new Near[Math.Min(count, Native.testudo_world_body_count(this))];
            Array.Resize(ref to, Counted(Native.testudo_world_nearest(this, ref point, distance, ref filter, to, (uint)to.Length)));
            return to;
        }

        internal static int Counted(int count) => count < 0 ? throw new TestudoException(-count) : count;

        /// <summary>What a function of Native that fills a list gives. Not for testudo_world_nearest, which finds no more than there is room for (Nearest), nor
        /// for testudo_world_create_chain, which makes a chain in each call (CreateChain).</summary>
        public static T[] List<T>(Fill<T> fill)
        {
            for (var to = new T[64]; ;)
            {
                int count = Counted(fill(to, (uint)to.Length));
                bool fits = count <= to.Length;
                Array.Resize(ref to, count);
                if (fits) return to;
            }
        }
    }

    /// <summary>One peer's part of a match.</summary>
    public sealed class Match : Owner
    {
        readonly Game game;
        readonly GCHandle kept;
        Event? told;

        Match(IntPtr handle, Game game, GCHandle kept) : base(handle) { this.game = game; this.kept = kept; }
        protected override bool ReleaseHandle() { Native.testudo_match_free(handle); kept.Free(); return true; }

        internal delegate int Maker(ref GameTable table, out IntPtr handle);
        /// <summary>What is made of a game, which is kept until then.</summary>
        internal static IntPtr Begin(Game game, out GCHandle kept, Maker make, Action<IntPtr> free)
        {
            var made = IntPtr.Zero;
            kept = GCHandle.Alloc(game);
            try
            {
                var table = Game.Table(game, GCHandle.ToIntPtr(kept));
                int status = make(ref table, out made);
                game.Rethrow();
                return Made(status, made);
            }
            catch
            {
                free(made);
                kept.Free();
                throw;
            }
        }
        internal static Match Make(Game game, Maker make)
        {
            var handle = Begin(game, out var kept, make, Native.testudo_match_free);
            return new Match(handle, game, kept);
        }
        /// <summary>NULL, for a guest who has no match yet.</summary>
        internal static Match None() => new Match(IntPtr.Zero, null, default(GCHandle));
        public static Match Single(Config config, Game game, ulong nowUs) =>
            Make(game, (ref GameTable table, out IntPtr match) => Native.testudo_match_single(ref config, ref table, nowUs, out match));
        public static Match Host(Config config, Game game, ulong nowUs) =>
            Make(game, (ref GameTable table, out IntPtr match) => Native.testudo_match_host(ref config, ref table, nowUs, out match));
        public static Match Join(Config config, Game game, uint player, uint peer, ulong nowUs) =>
            Make(game, (ref GameTable table, out IntPtr match) => Native.testudo_match_join(ref config, ref table, player, peer, nowUs, out match));
        public static Match Watch(Config config, Game game, uint peer, ulong nowUs) =>
            Make(game, (ref GameTable table, out IntPtr match) => Native.testudo_match_watch(ref config, ref table, peer, nowUs, out match));

        /// <summary>Runs the frames that are due. A transport's Round does it, too.</summary>
        public Advance Advance(ulong nowUs) { Done(Native.testudo_match_advance(this, nowUs, out var advance)); return advance; }
        public void HandlePacket(ulong nowUs, uint peer, byte[] packet) => Done(Native.testudo_match_handle_packet(this, nowUs, peer, packet, (UIntPtr)packet.Length));
        public bool PollPacket(ulong nowUs, Buffer packet, out uint peer) => Counted(Native.testudo_match_poll_packet(this, nowUs, packet, out peer)) == 1;
        /// <summary>At the end of a round: microseconds of work in it, without waits.</summary>
        public void NoteWork(ulong simulatedUs, ulong drawnUs) => TestudoException.Check(Native.testudo_match_note_work(this, simulatedUs, drawnUs));
        public void Submit(byte[] data, uint bits)
        {
            if (bits > 8L * data.Length) throw new ArgumentOutOfRangeException(nameof(bits), "there are fewer bits of this order");
            Done(Native.testudo_match_submit(this, data, bits));
        }
        public bool MaySubmit => Native.testudo_match_may_submit(this) == 0;
        public bool PollEvent(out Event happened)
        {
            // What the game throws meanwhile does not take the event away: the next call has it.
            if (told == null)
            {
                int count = Native.testudo_match_poll_event(this, out var polled);
                if (count == 1) told = polled;
                Counted(count);
            }
            bool hasHappened = told.HasValue;
            happened = told.GetValueOrDefault();
            told = null;
            return hasHappened;
        }
        /// <summary>The last event in English.</summary>
        public string EventWords
        {
            get
            {
                var words = Numbers.Text(Native.testudo_match_event_words(this));
                GC.KeepAlive(this);
                return words;
            }
        }
        public uint Phase => Native.testudo_match_phase(this);
        public bool IsOver => Native.testudo_match_is_over(this) != 0;
        public uint Player => Native.testudo_match_player(this);
        /// <summary>The next turn to run.</summary>
        public uint Turn => Native.testudo_match_turn(this);
        public uint Frame => Native.testudo_match_frame(this);
        /// <summary>Between the last two frames, 0 to 65,536: for drawing.</summary>
        public uint Alpha(ulong nowUs) => Native.testudo_match_alpha(this, nowUs);
        public bool IsPaused => Native.testudo_match_is_paused(this) != 0;
        public void Pause(bool yes) => TestudoException.Check(Native.testudo_match_pause(this, yes ? (byte)1 : (byte)0));
        public void Leave() => Done(Native.testudo_match_leave(this));

        /// <summary>Throws what the game has thrown meanwhile, or what the library says.</summary>
        internal void Done(int status)
        {
            game.Rethrow();
            TestudoException.Check(status);
        }
        int Counted(int count) { Done(Math.Min(count, 0) * -1); return count; }
    }

    /// <summary>Plain UDP.</summary>
    public sealed class Udp : Owner
    {
        public Udp(string address) : base(Bind(address)) { }
        static IntPtr Bind(string address) => Made(Native.testudo_udp_bind(address, out var handle), handle);
        protected override bool ReleaseHandle() { Native.testudo_udp_free(handle); return true; }
        public string Address()
        {
            using (var text = new Buffer())
            {
                TestudoException.Check(Native.testudo_udp_address(this, text));
                return text.Text();
            }
        }
        public uint AddPeer(string address) { TestudoException.Check(Native.testudo_udp_add_peer(this, address, out var peer)); return peer; }
        public void Round(Match match, ulong nowUs) => match.Done(Native.testudo_udp_round(this, match, nowUs));
        public void Pump(Match match, ulong nowUs) => match.Done(Native.testudo_udp_pump(this, match, nowUs));
    }

    /// <summary>The host of a match over the internet, by codes. Dispose waits up to a quarter of a second for the last packets, so not between two
    /// pictures.</summary>
    public sealed class Host : Owner
    {
        Host(IntPtr handle) : base(handle) { }
        protected override bool ReleaseHandle() { Native.testudo_host_free(handle); return true; }
        /// <summary>Binds, and makes the host's match. Addresses, separated by commas: where guests find it; null: where it is bound. Port 0 in them is that of
        /// the socket; 0.0.0.0 stands for the addresses of this machine, by which guests of the same house find it.</summary>
        public static Host Open(Config config, Game game, string bind, string addresses, ulong nowUs, out Match match)
        {
            var host = IntPtr.Zero;
            try
            {
                match = Match.Make(game, (ref GameTable table, out IntPtr made) => Native.testudo_host_open(ref config, ref table, bind, addresses, nowUs, out host, out made));
            }
            catch
            {
                Native.testudo_host_free(host);
                throw;
            }
            return new Host(host);
        }
        /// <summary>The socket's address, with its port.</summary>
        public string Address()
        {
            using (var text = new Buffer())
            {
                TestudoException.Check(Native.testudo_host_address(this, text));
                return text.Text();
            }
        }
        /// <summary>The code for a player's place, or for Numbers.Watcher.</summary>
        public string Code(uint place)
        {
            using (var text = new Buffer())
            {
                TestudoException.Check(Native.testudo_host_code(this, place, text));
                return text.Text();
            }
        }
        public void Round(Match match, ulong nowUs) => match.Done(Native.testudo_host_round(this, match, nowUs));
        /// <summary>Sleeps until a packet comes, at most so many milliseconds.</summary>
        public void Wait(uint ms) => TestudoException.Check(Native.testudo_host_wait(this, ms));
    }

    /// <summary>A guest who comes by a code, and comes back by itself. Dispose waits as that of Host.</summary>
    public sealed class Guest : Owner
    {
        /// <summary>The token: 16 random bytes of this machine, which it keeps.</summary>
        public Guest(string code, byte[] token, ulong nowUs) : base(Join(code, token, nowUs)) { }
        protected override bool ReleaseHandle() { Native.testudo_guest_free(handle); return true; }
        Guest(IntPtr handle) : base(handle) { }
        /// <summary>Opens a room at a relay, whose code this is, to play in it as player 0. Keep Code(0): with it the constructor leads back after a crash.</summary>
        public static Guest Open(string relay, byte[] token, Config config, uint actionBits, ulong nowUs) =>
            new Guest(Made(Native.testudo_guest_open(relay, Checked(token), ref config, actionBits, nowUs, out var handle), handle));
        static IntPtr Join(string code, byte[] token, ulong nowUs) => Made(Native.testudo_guest_join(code, Checked(token), nowUs, out var handle), handle);
        static byte[] Checked(byte[] token) => token.Length == 16 ? token : throw new ArgumentException("the token has 16 bytes");
        /// <summary>For whoever has opened a room: the code for a player's place, or for Numbers.Watcher.</summary>
        public string Code(uint place)
        {
            using (var text = new Buffer())
            {
                TestudoException.Check(Native.testudo_guest_code(this, place, text));
                return text.Text();
            }
        }
        /// <summary>Packets and frames. True: the place is open, so dispose of the match before, make a game of GameData, and a new match.</summary>
        public bool Round(Match match, ulong nowUs)
        {
            int arrived = Native.testudo_guest_round(this, match ?? Nothing, nowUs);
            match?.Done(Math.Min(arrived, 0) * -1);
            return World.Counted(arrived) == 1;
        }
        static readonly Match Nothing = Match.None();
        /// <summary>Sleeps until a packet comes, at most so many milliseconds. False at once without a connection: sleep yourself then.</summary>
        public bool Wait(uint ms) => World.Counted(Native.testudo_guest_wait(this, ms)) == 1;
        public byte[] GameData()
        {
            using (var data = new Buffer())
            {
                TestudoException.Check(Native.testudo_guest_game_data(this, data));
                return data.Bytes();
            }
        }
        public uint Players => Native.testudo_guest_players(this);
        public uint Place => Native.testudo_guest_place(this);
        /// <summary>The match of the place. Of the settings it takes what is this peer's own.</summary>
        public Match Begin(Config config, Game game, ulong nowUs) =>
            Match.Make(game, (ref GameTable table, out IntPtr match) => Native.testudo_guest_match(this, ref config, ref table, nowUs, out match));
    }

    /// <summary>A recorded match.</summary>
    public sealed class Replay : Owner
    {
        public Replay(byte[] bytes, uint rulesVersion) : base(Read(bytes, rulesVersion)) { }
        static IntPtr Read(byte[] bytes, uint rulesVersion) => Made(Native.testudo_replay_read(bytes, (UIntPtr)bytes.Length, rulesVersion, out var handle), handle);
        protected override bool ReleaseHandle() { Native.testudo_replay_free(handle); return true; }
        public ReplayInfo Info() { TestudoException.Check(Native.testudo_replay_info(this, out var info)); return info; }
    }

    /// <summary>Plays a replay.</summary>
    public sealed class ReplayPlayer : Owner
    {
        readonly Game game;
        readonly GCHandle kept;
        ReplayPlayer(IntPtr handle, Game game, GCHandle kept) : base(handle) { this.game = game; this.kept = kept; }
        protected override bool ReleaseHandle() { Native.testudo_replay_player_free(handle); kept.Free(); return true; }
        public static ReplayPlayer Of(Replay replay, Game game)
        {
            var handle = Match.Begin(game, out var kept, (ref GameTable table, out IntPtr player) => Native.testudo_replay_player_new(replay, ref table, out player), Native.testudo_replay_player_free);
            return new ReplayPlayer(handle, game, kept);
        }
        /// <summary>Runs one frame. Whether there was one.</summary>
        public bool Step()
        {
            int count = Native.testudo_replay_player_step(this);
            game.Rethrow();
            return World.Counted(count) == 1;
        }
        /// <summary>Goes to the start of a turn of the file.</summary>
        public void Seek(uint turn)
        {
            int status = Native.testudo_replay_player_seek(this, turn);
            game.Rethrow();
            TestudoException.Check(status);
        }
        public uint Turn => Native.testudo_replay_player_turn(this);
    }
}
